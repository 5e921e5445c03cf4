// The OpenAPI description of the API, from the flags of the endpoints and the schemas of their documents.
#pragma once

#include "base/json.h"

namespace rightsize::app {

Json openapi_document();

}  // namespace rightsize::app
