#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/message.h"
#include "engine/io/onnx_data_needed.h"
#include "engine/network/network.h"

namespace engine {

/// A sentence on what became of an ONNX model.
struct OnnxRemark {
    enum class Kind {
        read,     ///< nodes by operator
        layers,   ///< layers by kind
        lifted,   ///< layers that were made of several nodes
        dropped,  ///< nodes that change nothing
        folded,   ///< nodes that were computed
        tensors,  ///< parameters, buffers and constants
        note,
        advice,  ///< what another export would keep
        data,    ///< what training feeds
    };
    /// So many of one kind.
    struct Item {
        std::int64_t count = 0;
        std::string name{};
        int line = 0;  ///< of the text, where the first one stands; 0: nowhere
    };
    Kind kind = Kind::note;
    Message text{};
    std::vector<Item> items{};
    int line = 0;        ///< of the text; 0: all of it
    std::string copy{};  ///< a line of Python for the terminal of the exporter

    /// In English, with its items and its line of Python.
    std::string str() const;
};

/// Operators of a model that are not read.
struct UnreadOperator {
    std::string what{};  ///< operator and reason
    std::vector<std::string> nodes{};
};

/// All operators of a model that are not read, in one list.
class OnnxRefused final : public Error {
public:
    OnnxRefused(std::vector<UnreadOperator> all, Message message, Message hint);
    const std::vector<UnreadOperator>& all() const noexcept { return all_; }

private:
    std::vector<UnreadOperator> all_;
};

/// An ONNX model as a network of the notation.
struct OnnxImport {
    struct Tensor {
        std::string name{};  ///< in the text
        std::vector<std::int64_t> sizes{};
        std::vector<float> numbers{};
    };
    std::string text{};
    NetworkData data{};            ///< the sizes that the file has
    std::vector<Tensor> tensors{};  ///< parameters and buffers
    /// Says what was read, lifted, dropped and folded, and what the file leaves out: advice
    /// first.
    std::vector<OnnxRemark> report{};
};

/// Reads a model of opset 9 to 28. `data`: its file of tensors, which a person chose; empty: the one
/// that the model names in its own folder. Throws Error(data): OnnxRefused for operators that are not
/// read, OnnxDataNeeded where a person has to choose `data`. Reports its work (engine/io/work_scope.h).
OnnxImport import_onnx(const std::filesystem::path& path, const std::filesystem::path& data = {});

/// Writes the tensors for model.init_from. Throws Error(io).
void write_onnx_weights(const OnnxImport& import, const std::filesystem::path& path);

}  // namespace engine
