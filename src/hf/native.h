// Builds a native config, the document that a user could have written, from values of another one.
#ifndef ROPE_BENCH_SRC_HF_NATIVE_H_
#define ROPE_BENCH_SRC_HF_NATIVE_H_

#include <deque>
#include <string>
#include <string_view>

#include "src/case/json_node.h"
#include "src/hf/fields.h"

namespace rope_bench {

// Every node keeps the place and pointer it was read at, so that the messages of the config reader
// name the user's file.
class NativeBuilder {
 public:
  using Value = decltype(Node::value);

  Node node(Value value, const Trace& at);
  // Sets a member by its dotted path; objects on the way are made. An existing one is replaced.
  void put(Node* object, std::string_view path, Value value, const Trace& at);
  void put(Node* object, std::string_view path, const char* text, const Trace& at) {
    put(object, path, std::string(text), at);
  }

 private:
  std::deque<std::string> pointers_;  // stay where they are while nodes point at them
};

}  // namespace rope_bench

#endif  // ROPE_BENCH_SRC_HF_NATIVE_H_
