// The OpenAPI file: made from the endpoints' own flags and from what data/api/documents.json says of answers.
#pragma once

#include "base/json.h"

namespace rightsize::app {

Json openapi_document();

}  // namespace rightsize::app
