// The JSON document of a command as a tree. `rightsize schema` describes each document.
//
//   for (const Document& plan : report->document["plans"]) use(plan["gpu"].text(), plan["usd_total"].number());
//
// A missing member is null at any depth: document["a"]["b"] is null if there is no "a".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rightsize::v1 {

class Document {
 public:
  enum class Kind { kNull, kBool, kNumber, kText, kList, kObject };

  Kind kind() const { return kind_; }
  explicit operator bool() const { return kind_ != Kind::kNull; }

  // Empty if the document has another kind.
  std::optional<bool> boolean() const;
  std::optional<double> number() const;
  std::optional<std::string> text() const;

  // Members and items; a null document if there is none with that name or index.
  const Document& operator[](std::string_view name) const;
  const Document& operator[](std::size_t index) const;
  const std::vector<std::string>& names() const { return names_; }  // in the document's order
  std::size_t size() const { return items_.size(); }
  std::vector<Document>::const_iterator begin() const { return items_.begin(); }
  std::vector<Document>::const_iterator end() const { return items_.end(); }

 private:
  friend struct DocumentMaker;

  Kind kind_ = Kind::kNull;
  bool boolean_ = false;
  double number_ = 0;
  std::string text_;
  std::vector<std::string> names_;  // of an object: names_[i] is the name of items_[i]
  std::vector<Document> items_;
};

// An answer of a command.
struct Report {
  Document document;
  int exit_code = 0;  // 2: no feasible answer; the document says why
  std::string json;   // the document as text
  std::string text;   // the report as plain text
  std::string html;   // a whole page
};

}  // namespace rightsize::v1
