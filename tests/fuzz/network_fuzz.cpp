#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/base/error.h"
#include "engine/models/network_types.h"
#include "engine/network/network_exports.h"
#include "engine/train/step_memory.h"

namespace {

/// Small inputs of each kind.
const engine::NetworkData& small_data() {
    static const engine::NetworkData data{
        {{"image", {3, 32, 32}, {}}, {"features", {20}, {}}, {"tokens", {}, {1000}}, {"indices", {26}, {1000}}}, 10, {}};
    return data;
}

void check(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

// Any bytes are a network's text: its faults have places, and one without any has a shape and
// has a prediction of its types and memory,
// and becomes a file for PyTorch, a picture and a text that makes the same parameters. Only what the
// notation cannot say is refused there, with Error(settings).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace engine;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const CheckedNetwork network = check_network(text, small_data());
    for (const NetworkFault& fault : network.faults)
        check(fault.place.line >= 1 && fault.place.column >= 1 && fault.place.length >= 0 && !fault.text.str().empty());
    usual_network_data(text);
    if (!network.usable()) return 0;
    check(!network.shape.empty() && network.state.size() == network.parameters.size() + network.buffers.size());
    constexpr std::size_t most_rows = 300;  // exports of thousands of layers take longer than a check
    if (network.rows.size() > most_rows) return 0;
    check(predict_step_memory(text, small_data(), RunConfig()).saved.size() == network.rows.size());
    for (const PredictedType& each : predict_types(text, small_data(), RunConfig().precision))
        check(each.row >= 0 && static_cast<std::size_t>(each.row) < network.rows.size());
    try {
        network_to_svg(text, small_data(), {.depth = 2, .lying = false});
        network_to_pytorch(text, small_data());
        const CheckedNetwork again = check_network(network_to_text(text, small_data()), small_data());
        check(again.usable() && again.parameter_count() == network.parameter_count());
    } catch (const Error& error) {
        check(error.code() == ErrorCode::settings);
    }
    return 0;
}
