// XmlTree: what a parser other than ours makes of the XML we wrote. For tests only.
#pragma once

#include <expat.h>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::output {

struct XmlNode {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // Its own and that of everything in it.
  std::vector<XmlNode> children;

  std::string at(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::string() : found->second;
  }
};

inline void visit(const XmlNode& node, const std::function<void(const XmlNode&)>& see) {
  see(node);
  for (const auto& child : node.children) visit(child, see);
}

// All nodes of this name or, for XHTML, of this class.
inline std::vector<const XmlNode*> all(const XmlNode& root, std::string_view name) {
  std::vector<const XmlNode*> out;
  visit(root, [&](const XmlNode& node) {
    if (node.name == name || node.at("class") == name) out.push_back(&node);
  });
  return out;
}

// The root, or a node named "error" with expat's reason as its text.
inline XmlNode parse_xml(std::string_view text) {
  struct State {
    std::vector<XmlNode> open;
    XmlNode root;
  } state;
  auto* parser = XML_ParserCreate("UTF-8");
  XML_SetUserData(parser, &state);
  XML_SetElementHandler(
      parser,
      [](void* data, const XML_Char* name, const XML_Char** attributes) {
        XmlNode node{.name = name};
        for (; *attributes != nullptr; attributes += 2)
          node.attributes[attributes[0]] = attributes[1];
        static_cast<State*>(data)->open.push_back(std::move(node));
      },
      [](void* data, const XML_Char*) {
        auto& nodes = static_cast<State*>(data)->open;
        auto node = std::move(nodes.back());
        nodes.pop_back();
        if (nodes.empty()) {
          static_cast<State*>(data)->root = std::move(node);
        } else {
          nodes.back().text += node.text;
          nodes.back().children.push_back(std::move(node));
        }
      });
  XML_SetCharacterDataHandler(parser, [](void* data, const XML_Char* chars, int size) {
    auto& nodes = static_cast<State*>(data)->open;
    if (!nodes.empty()) nodes.back().text.append(chars, static_cast<std::size_t>(size));
  });
  const auto status = XML_Parse(parser, text.data(), static_cast<int>(text.size()), 1);
  if (status != XML_STATUS_OK) {
    state.root = {.name = "error", .text = XML_ErrorString(XML_GetErrorCode(parser))};
  }
  XML_ParserFree(parser);
  return std::move(state.root);
}

}  // namespace millrace::output
