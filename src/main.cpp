#include "src/cli/cli.h"

int main(int argc, char** argv) {
  return rope_bench::cli_main(std::vector<std::string>(argv, argv + argc));
}
