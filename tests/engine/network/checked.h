#pragma once

#include <gtest/gtest.h>

#include "engine/network/network.h"

namespace engine::network {

/// Small inputs of each kind, 10 outputs.
inline NetworkData small_data() {
    return {{{"image", {3, 32, 32}, {}}, {"features", {20}, {}}, {"tokens", {}, {1000}}, {"indices", {26}, {1000}}}, 10, {}};
}

inline std::string parameter_names(const CheckedNetwork& network) {
    std::string names;
    for (const NetworkParameter& parameter : network.parameters) names += (names.empty() ? "" : " ") + parameter.name;
    return names;
}

/// A network of features, image, tokens and indices with this body, whose lines have no indentation of their own.
inline std::string with_body(const std::string& body) {
    std::string text = "network(features, image, tokens, indices):\n";
    for (std::size_t from = 0; from < body.size();) {
        const std::size_t to = std::min(body.find('\n', from), body.size());
        text += "  " + body.substr(from, to - from) + '\n';
        from = to + 1;
    }
    return text;
}

inline CheckedNetwork check_body(const std::string& body) { return check_network(with_body(body), small_data()); }

/// The faults, "LINE:COLUMN: TEXT" each, as in the body alone.
inline std::vector<std::string> fault_texts(const CheckedNetwork& network) {
    std::vector<std::string> texts;
    for (const NetworkFault& fault : network.faults)
        texts.push_back(std::to_string(fault.place.line - 1) + ':' + std::to_string(fault.place.column - 2) + ": " + fault.text.str());
    return texts;
}

/// The only fault of a body, or note, that does not end too early besides.
inline std::string fault_text(const std::string& body) {
    const auto texts = fault_texts(check_body(body));
    for (std::size_t i = 1; i < texts.size(); ++i)
        EXPECT_NE(texts[i].find("The network ends with "), std::string::npos) << body << ": " << texts[i];
    return texts.empty() ? std::string() : texts.front();
}

}  // namespace engine::network
