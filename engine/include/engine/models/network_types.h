#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/network/network.h"

namespace engine {

struct PrecisionConfig;  // engine/settings/run_config.h

/// An operation of a network's forward pass in training, as the X-ray lists it
/// (engine/instruments/xray.h), predicted without running.
struct PredictedType {
    int row = 0;           ///< of CheckedNetwork, to which it belongs
    std::string module{};  ///< full name; "": outside all modules
    std::string op{};
    std::string type{};  ///< that it computes in: "f16"; "": it takes whole numbers alone
    std::string result{};  ///< type that it writes: softmax takes f16 and writes f32; "": whole numbers
    std::string rule{};  ///< as XrayOp::rule
    std::string key{};   ///< of precision.force; "" where no type is forced
    std::string why{};   ///< the rule in one sentence
    std::vector<int> further{};  ///< rows of later layers that it computes as well
};

/// The operations of a text's layers whose shapes are known, in the order in which they run. Layers
/// that are computed together are listed one by one, but for batch norm, sum and relu, which are
/// one operation in the row of the norm. Throws Error(settings) if precision.force names an unknown
/// module or operation.
std::vector<PredictedType> predict_types(std::string_view text, const NetworkData& data, const PrecisionConfig& precision);

/// The types of each row's operations and of their results, each once and that of the last result
/// at the end: "f16", "f16, f32". Empty: it has none that computes in numbers with fractions, or is
/// computed in the row of a layer before it.
std::vector<std::string> types_by_row(const std::vector<PredictedType>& operations, std::size_t rows);

}  // namespace engine
