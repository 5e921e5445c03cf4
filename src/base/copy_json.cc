#include "base/copy_json.h"

namespace rightsize {

Json copy_of(const JsonValue& value) {
  switch (value.type) {
    case JsonType::kNull:
      return nullptr;
    case JsonType::kBool:
      return value.boolean;
    case JsonType::kNumber:
      return value.integer ? Json(*value.integer) : Json(value.number);
    case JsonType::kString:
      return value.text;
    case JsonType::kArray: {
      Json list = Json::array();
      for (const JsonValue& item : value.items) list.push_back(copy_of(item));
      return list;
    }
    case JsonType::kObject: {
      Json object = Json::object();
      for (const JsonMember& member : value.members) object[member.name] = copy_of(member.value);
      return object;
    }
  }
  return nullptr;
}

}  // namespace rightsize
