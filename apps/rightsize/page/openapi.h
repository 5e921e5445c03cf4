// The OpenAPI file: made from the endpoints' own flags and from what schemas/ says of their documents.
#pragma once

#include "base/json.h"

namespace rightsize::app {

Json openapi_document();

}  // namespace rightsize::app
