#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/schema.h"

namespace engine {

/// Fields of click data: "ids" (one id below `rows` for each of `tables` tables), "dense"
/// (names.size() numbers) and "label".
inline Schema click_schema(std::vector<std::string> names, std::int64_t tables,
                           std::int64_t rows) {
    Schema schema;
    schema.add({.name = "ids",
                .kind = FieldKind::indices,
                .dtype = DType::i64,
                .shape = {tables},
                .cardinality = rows});
    schema.add({.name = "dense",
                .kind = FieldKind::features,
                .shape = {static_cast<std::int64_t>(names.size())},
                .names = std::move(names)});
    schema.add({.name = "label",
                .kind = FieldKind::label,
                .dtype = DType::i64,
                .cardinality = 2,
                .names = {"no click", "click"}});
    return schema;
}

}  // namespace engine
