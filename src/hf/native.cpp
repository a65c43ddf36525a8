#include "src/hf/native.h"

namespace rope_bench {
namespace {

Member& member(Node* object, std::string_view key) {
  Node::Object& members = std::get<Node::Object>(object->value);
  for (Member& found : members) {
    if (found.key == key) return found;
  }
  return members.emplace_back(Member{std::string(key), object->offset, {}});
}

}  // namespace

Node NativeBuilder::node(Value value, const Trace& at) {
  Node made{std::move(value), at.node->source, at.node->offset};
  made.pointer = &pointers_.emplace_back(at.pointer.empty() ? "/" : at.pointer);
  return made;
}

void NativeBuilder::put(Node* object, std::string_view path, Value value, const Trace& at) {
  for (size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
    Node& child = member(object, path.substr(0, dot)).value;
    if (!child.object()) child = node(Node::Object{}, at);
    object = &child;
  }
  member(object, path).value = node(std::move(value), at);
}

}  // namespace rope_bench
