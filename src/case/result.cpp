#include "src/case/result.h"

#include "fmt/format.h"

namespace rope_bench {

std::string to_text(const WorstElement& e) {
  return fmt::format("{}[token {}, head {}, dim {}] is {}, should be {}", e.tensor, e.token, e.head,
                     e.dim, e.got, e.want);
}

}  // namespace rope_bench
