#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "network/graph.h"
#include "network/scope.h"

namespace engine::network {

struct NamedValue;
using Names = Scope<NamedValue>;
using Variables = Scope<Value>;

/// A value of the graph, or a module, under a name.
struct NamedValue {
    int value = -1;   ///< of the graph; -1: unknown
    int module = -1;  ///< of ModuleCalls, to run it again; -1: none
    std::shared_ptr<const Names> inner{};  ///< names of a container
};

/// A body while it is run.
struct Frame {
    std::shared_ptr<Variables> variables;
    std::shared_ptr<Names> names;
    std::string prefix;
    NamedValue current;
    int* count;               ///< the next number of a layer without a name
    std::size_t block_limit;  ///< blocks above this one can be used
};

/// The names of a text while it is expanded, and the faults of its lines. `graph` and `faults` grow
/// meanwhile.
class Expansion {
public:
    Expansion(const NetworkGraph& graph, std::vector<NetworkFault>& faults) : graph_(graph), faults_(faults), evaluator_(faults) {}
    ~Expansion();
    Expansion(const Expansion&) = delete;
    Expansion& operator=(const Expansion&) = delete;

    /// One fault a line.
    void report(const Failure& failure);
    /// One note a place.
    void note(TextPlace place, Message text);
    bool is_reported(const TextPlace& place) const { return faulty_lines_.contains(reported_place(place).line); }
    bool has_faults() const { return !std::ranges::all_of(faults_, &NetworkFault::note); }
    /// False in a long text with many faults: looking for a name like theirs would take too long.
    bool may_suggest(std::size_t names) const;

    /// Each name that is set has its time.
    int clock() const { return clock_; }
    void set_variable(Variables& scope, const std::string& name, Value value) { scope.set(name, std::move(value), ++clock_); }
    void set_name(Names& scope, const std::string& name, NamedValue value);
    /// "x", "block1.conv", "lstm.hidden".
    std::optional<NamedValue> find_value(const Names& names, const std::string& path) const;

    Evaluator& evaluator() { return evaluator_; }
    const NetworkGraph& graph() const { return graph_; }
    std::string text(const Label& label, const Frame& frame);
    /// The value behind `from`.
    NamedValue value(const Label& label, const Frame& frame) { return value(text(label, frame), label.place, frame); }
    NamedValue value(const std::string& name, TextPlace place, const Frame& frame);

    /// While it lives, a module runs again: its weights are those that exist, and faults stand at the line that runs it.
    class SharedRun {
    public:
        SharedRun(Expansion& expansion, const Statement& statement) : expansion_(expansion), outer_(expansion.again_) {
            if (outer_ == nullptr) expansion.again_ = &statement;
        }
        ~SharedRun() { expansion_.again_ = outer_; }
        SharedRun(const SharedRun&) = delete;
        SharedRun& operator=(const SharedRun&) = delete;

    private:
        Expansion& expansion_;
        const Statement* outer_;
    };
    bool runs_again() const { return again_ != nullptr; }

private:
    const TextPlace& reported_place(const TextPlace& place) const { return again_ != nullptr ? again_->place : place; }
    std::optional<NamedValue> find_inside(const NamedValue& outer, const std::string& path) const;

    const NetworkGraph& graph_;
    std::vector<NetworkFault>& faults_;
    Evaluator evaluator_;
    std::set<int> faulty_lines_;
    std::set<std::pair<int, int>> noted_;        // lines and columns
    std::vector<std::weak_ptr<Names>> holding_;  // names with those of a container
    const Statement* again_ = nullptr;           // the line that runs a module again
    int clock_ = 0;
    mutable std::size_t suggested_ = 0;
};

/// The names that an expression of a body sees.
class FrameView final : public Surroundings {
public:
    FrameView(const Expansion& expansion, const Frame& frame) : expansion_(expansion), frame_(frame) {}
    const Value* variable(std::string_view name) const override;
    const TensorType* tensor(std::string_view path) const override;
    std::vector<std::string> known_names() const override;
    bool is_reported(const TextPlace& place) const override { return expansion_.is_reported(place); }

private:
    const Expansion& expansion_;
    const Frame& frame_;
};

/// Where a fault of the whole statement stands.
inline TextPlace place_for_faults(const Statement& statement) { return statement.callee ? statement.callee->place : statement.place; }

[[noreturn]] inline void fail(TextPlace place, Message text) { throw Failure{place, std::move(text), {}}; }

}  // namespace engine::network
