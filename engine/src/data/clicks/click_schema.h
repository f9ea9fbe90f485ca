#pragma once

#include <string>
#include <vector>

#include "data/schema.h"

namespace engine {

/// Fields of click data: "ids" (one id below `rows` for each of `tables` tables), "dense"
/// (names.size() numbers) and "label".
Schema click_schema(std::vector<std::string> names, std::int64_t tables, std::int64_t rows);

}  // namespace engine
