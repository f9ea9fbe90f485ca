#pragma once

#include <deque>
#include <map>
#include <memory>

#include "network/expansion.h"

namespace engine::network {

/// Options of a text as variables, and initial weights for all layers of a kind.
class TextEnvironment {
public:
    /// Faults of these lines are reported.
    TextEnvironment(const NetworkSyntax& syntax, const NetworkData& data, Expansion& expansion);

    /// Options and `outputs`; variables of bodies see them.
    const std::shared_ptr<Variables>& variables() const { return variables_; }
    /// The rule of an init line for this parameter; null: none.
    const InitialRule* initial(const LayerKind& kind, const std::string& role);
    /// After the layers have been made.
    void note_unused_inits();

private:
    struct Init {
        const InitLine* line;
        InitialRule rule;
        bool used = false;
    };

    void set_options(const NetworkSyntax& syntax, const NetworkData& data, const std::vector<OptionSpec>& options);
    void read_inits(const NetworkSyntax& syntax);
    Value variable_value(const OptionSpec& spec, const OptionValue& value);

    Expansion& expansion_;
    std::shared_ptr<Variables> variables_ = std::make_shared<Variables>(nullptr, 0);
    std::deque<std::vector<std::string>> words_;  // of each option; values point to them
    std::map<std::string, std::vector<Init>, std::less<>> inits_;  // by kind
};

/// Whether a parameter, "bias", "bias_ih_l0" or "in_proj_bias", is a bias; the others are weights.
bool is_bias(std::string_view role);

}  // namespace engine::network
