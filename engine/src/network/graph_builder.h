#pragma once

#include <unordered_map>
#include <unordered_set>

#include "network/expansion.h"
#include "network/text_environment.h"

namespace engine::network {

/// A layer that a line runs.
struct LayerUse {
    const Statement& statement;
    const LayerKind& kind;
    const LayerArguments& arguments;
    const std::string& module;  ///< its own, or the one around it
    bool own_module;
};

/// Adds inputs, layers and bodies to a graph within Limits.
class GraphBuilder {
public:
    GraphBuilder(NetworkGraph& graph, Expansion& expansion) : graph_(graph), expansion_(expansion) {}

    /// The value of an input of the network, which is data.inputs[field].
    int add_input(const NetworkData& data, std::size_t field);
    /// The layer's first value; -1 where one of the inputs is unknown. Throws Failure or Overrun.
    int add_layer(const LayerUse& use, const std::vector<NamedValue>& inputs, TextEnvironment& environment);
    /// The newest name of a value does not replace its first.
    void name_value(int value, const std::string& name);
    /// Returns its place among the bodies.
    std::size_t begin_body(GraphBody body);
    void end_body(std::size_t index, int output);

    /// The head of what is run while it lives. `times`: of all runs of a repeat, else 0.
    class Inside {
    public:
        Inside(GraphBuilder& builder, NetworkHead head, std::size_t times = 0) : builder_(builder) {
            builder.heads_.push_back(head);
            builder.times_.push_back(times);
        }
        ~Inside() {
            builder_.heads_.pop_back();
            builder_.times_.pop_back();
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        GraphBuilder& builder_;
    };

private:
    void check_limits(const Statement& statement, std::size_t parameters);
    int find_tied(const LayerUse& use, LayerCall& call) const;
    int parameter(const LayerUse& use, LayerParameter& parameter, const LayerCall& call, TextEnvironment& environment);
    void note_unused_initials(const LayerUse& use, const LayerCall& call);

    NetworkGraph& graph_;
    Expansion& expansion_;
    std::unordered_map<std::string, int> parameter_indices_;  // by name
    std::unordered_set<std::string> buffer_names_;
    std::vector<NetworkHead> heads_;                          // of what is run now
    std::vector<std::size_t> times_;                          // beside heads_
    std::int64_t parameter_uses_ = 0, numbers_ = 0;
};

}  // namespace engine::network
