#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "network/pytorch_classes.h"

namespace engine::network {

/// Something that a body uses: a value of the graph, or a module or tensor with its full name.
struct Reference {
    int value = -1;
    std::string module{};
    bool is_tensor = false;

    friend auto operator<=>(const Reference&, const Reference&) = default;
};

/// A body of the graph with what stands in it. The first one is the network's.
struct BodyPlace {
    const GraphBody* body = nullptr;
    std::string module{};
    int first = 0, end = 0;
    std::vector<int> inner{};  ///< bodies
    std::string group{};       ///< bodies that can be of one class have the same
};

/// A body as a class of its own.
struct Form {
    PythonClass made{};
    std::vector<Reference> needs{};  ///< inputs of the class
    std::vector<int> gives{};        ///< its results, as values of the graph
    bool is_chain = false;
};

/// Which step of `other` is that of `base`; -1: it lacks it, and its value is the first input.
/// Nothing: they are of different classes.
std::optional<std::vector<int>> embedded(const PythonClass& base, const PythonClass& other);

/// The bodies of a graph, each as a class of its own.
class PythonBodies {
public:
    /// `constructor`: makes a body's module inside another, by its index.
    PythonBodies(const NetworkGraph& graph, std::function<Python(int)> constructor);

    int count() const { return static_cast<int>(places_.size()); }
    const BodyPlace& place(int index) const { return places_[static_cast<std::size_t>(index)]; }
    Form& form(int index);
    /// Whether a node is the first that runs its module.
    bool is_first(int node) const;

private:
    using Locals = std::map<Reference, int>;

    void place_bodies();
    void find_foreign_modules(int index, bool again);
    int local(Reference reference, const BodyPlace& here, Form& form, Locals& locals);
    std::string input_name(int value, const BodyPlace& here) const;
    std::string value_name(int value) const;
    void add_items(const BodyPlace& body, const BodyPlace& here, Form& form, Locals& locals);
    void add_layer(int index, const BodyPlace& here, Form& form, Locals& locals);
    int new_value(int output, Form& form, Locals& locals) const;
    void add_body(int index, const BodyPlace& here, Form& form, Locals& locals);
    void finish(const BodyPlace& here, Form& form, Locals& locals);
    bool is_chain(const Form& form, const BodyPlace& here) const;

    const NetworkGraph& graph_;
    const std::function<Python(int)> constructor_;
    std::vector<int> last_use_;  // nodes, by value
    std::vector<BodyPlace> places_;
    std::map<std::string, int> first_runs_;
    std::map<std::string, int> first_nodes_;  // that run a module, by its name
    std::set<std::string> foreign_;
    std::vector<std::optional<Form>> forms_;
};

}  // namespace engine::network
