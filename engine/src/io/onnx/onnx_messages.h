#pragma once

#include <protozero/pbf_reader.hpp>
#include <string>

#include "io/onnx/onnx_file.h"

/// The messages of an ONNX file, each checked on its own.
namespace engine::onnx {

/// Why a file is refused.
struct Refused {
    std::string why;
};

/// A field's value; throws Refused for one of another type.
std::string word_of(protozero::pbf_reader& field);
std::int64_t whole_of(protozero::pbf_reader& field);
protozero::pbf_reader message_of(protozero::pbf_reader& field);

/// Bytes of a number; 0: a type that is not read.
std::int64_t item_bytes(std::int32_t type);

/// A graph, so deep in others.
OnnxBody graph_of(protozero::pbf_reader graph, std::int64_t depth);
OnnxFunction function_of(protozero::pbf_reader field);

template <typename Part>
void count(const std::vector<Part>& parts) {
    if (static_cast<std::int64_t>(parts.size()) > OnnxFile::most_parts) throw Refused{"it has more than 100,000 nodes or tensors"};
}

}  // namespace engine::onnx
