#pragma once

#include <map>
#include <unordered_map>

#include "network/graph_builder.h"

namespace engine::network {

/// Runs the lines of a body.
class BodyRunner {
public:
    /// The value that the body ends with.
    virtual NamedValue run(const std::vector<Statement>& body, Frame& frame) = 0;

protected:
    ~BodyRunner() = default;
};

/// Layers, blocks and containers: makes them, names them, and runs them again.
class ModuleCalls {
public:
    ModuleCalls(const NetworkSyntax& syntax, Expansion& expansion, TextEnvironment& environment, GraphBuilder& builder, BodyRunner& bodies);

    // Each throws Failure, Unknown or Overrun.
    NamedValue layer(const Statement& statement, const std::string& label, std::vector<NamedValue> inputs, Frame& frame);
    NamedValue container(const Statement& statement, const std::string& label, const NamedValue& input, Frame& frame);
    /// Takes the full name of a module or parameter. `role`: of the parameter that it brings; empty: none.
    void take_name(const std::string& name, const Statement& statement, std::string_view role = {});
    /// A module under `label` that passes its input, unless another line has the label: then nothing.
    std::optional<NamedValue> left_out(const Statement& statement, const std::string& name, int value);
    /// Faults that a line has whether it runs or not: layers that do not exist, arguments that they do not have.
    void check_line(const Statement& statement, const Frame& frame);

private:
    /// A layer, block or container that has been made, as it can run again.
    struct Module {
        const Statement* statement = nullptr;
        std::string name{};
        bool own = true;  ///< a module of its own
        const LayerKind* kind = nullptr;
        LayerArguments arguments{};
        const BlockLine* block = nullptr;
        std::shared_ptr<Variables> variables{};  ///< parameters of a block; a container's surroundings
        std::shared_ptr<Names> names{};
        int time = 0;
        std::size_t block_limit = 0;
        bool left_out = false;
        std::vector<NamedValue> more{};  ///< inputs that its arguments name
        int runs = 1;  ///< of one that is kept to run again
    };

    NamedValue first_run(Module module, const std::vector<NamedValue>& inputs, bool has_label);
    NamedValue run_module(const Module& module, const std::vector<NamedValue>& inputs);
    NamedValue again(const std::string& callee, const Statement& statement, const std::string& label, const std::vector<NamedValue>& inputs, Frame& frame);
    void name_module(Module& module, const Statement& statement, const std::string& label, Frame& frame);
    std::shared_ptr<Variables> block_variables(const BlockLine& block, const Statement& statement, const Frame& frame);
    std::vector<NamedValue> named_values(const LayerKind& kind, const Statement& statement, const Frame& frame);
    Failure unknown_layer(const std::string& callee, TextPlace place, const Frame& frame);

    const NetworkSyntax& syntax_;
    Expansion& expansion_;
    TextEnvironment& environment_;
    GraphBuilder& builder_;
    BodyRunner& bodies_;
    std::vector<Module> modules_;
    std::unordered_map<std::string, std::size_t> blocks_;  // places in the syntax, by name
    std::unordered_map<std::string, int> taken_;           // names of modules, with their lines
    std::map<std::size_t, int> uses_;                      // of blocks, by their place in the syntax
};

}  // namespace engine::network
