#include "engine/models/network_types.h"

#include <algorithm>

#include "engine/base/plain_text.h"
#include "models/typed_network.h"
#include "network/expand.h"
#include "network/grammar.h"

namespace engine {

std::vector<PredictedType> predict_types(std::string_view text, const NetworkData& data, const PrecisionConfig& precision) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    const network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    return network::run_on_types(graph, syntax.gives, precision, {}).operations;
}

std::vector<std::string> types_by_row(const std::vector<PredictedType>& operations, std::size_t rows) {
    std::vector<std::vector<std::string>> types(rows);
    for (const PredictedType& op : operations) {
        std::vector<std::string>& own = types[static_cast<std::size_t>(op.row)];
        for (const std::string& type : {op.type, op.result}) {
            if (type.empty()) continue;
            std::erase(own, type);
            own.push_back(type);
        }
    }
    std::vector<std::string> out;
    for (const std::vector<std::string>& each : types) out.push_back(join(each));
    return out;
}

}  // namespace engine
