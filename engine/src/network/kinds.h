#pragma once

#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/options.h"
#include "network/initial.h"

namespace engine::network {

/// An argument of a layer.
struct LayerArgument {
    enum class Form {
        plain,    ///< as the option's type says
        sizes,    ///< a whole number for all dimensions, or a list with one for each
        padding,  ///< sizes, or the word same
        list,     ///< a whole number or a list of them
        rest,     ///< all arguments without a name, as a list
        initial,  ///< a rule for initial weights
        tensor,   ///< a parameter of another layer: wte.weight
        value     ///< a value of the network, which becomes the layer's last input
    };
    OptionSpec option{};  ///< name, default, bounds, choices and help
    Form form = Form::plain;
    bool positional = false;  ///< may come without a name
    bool required = false;
    std::vector<std::string> words{};  ///< of option.choices; layer_kinds() fills them
};

/// Values of a layer's arguments, those that are left out too. Copies share them.
class LayerArguments {
public:
    struct Given {
        OptionValue value{};
        InitialRule initial{};       ///< of Form::initial
        std::string reference{};     ///< of Form::tensor and Form::value
        bool is_default = true;
    };

    /// By name. The kind keeps the names, and the values of those that are left out.
    class Table {
    public:
        using Entry = std::pair<std::string_view, Given>;
        using Entries = std::vector<Entry>;

        Table() = default;
        Table(Entries entries, const Entries* defaults) : own_(std::make_shared<const Entries>(std::move(entries))), defaults_(defaults) {}

        /// end(): there is no such argument.
        const Entry* find(std::string_view name) const {
            for (const Entries* entries : {own_.get(), defaults_})
                if (entries != nullptr)
                    for (const Entry& entry : *entries)
                        if (entry.first == name) return &entry;
            return end();
        }
        const Entry* end() const { return nullptr; }
        bool contains(std::string_view name) const { return find(name) != end(); }

    private:
        std::shared_ptr<const Entries> own_{};
        const Entries* defaults_ = nullptr;
    };
    Table all{};

    bool given(std::string_view name) const { return !at(name).is_default; }
    bool flag(std::string_view name) const { return std::get<bool>(at(name).value); }
    std::int64_t whole(std::string_view name) const { return std::get<std::int64_t>(at(name).value); }
    double number(std::string_view name) const { return std::get<double>(at(name).value); }
    const std::string& reference(std::string_view name) const { return at(name).reference; }
    const std::string& word(std::string_view name) const { return std::get<std::string>(at(name).value); }
    const std::vector<std::int64_t>& list(std::string_view name) const {
        return std::get<std::vector<std::int64_t>>(at(name).value);
    }

private:
    const Given& at(std::string_view name) const { return all.find(name)->second; }
};

/// A tensor that a layer learns, named below its module.
struct LayerParameter {
    std::string role{};  ///< "weight"; empty for Parameter, whose name is its label
    Sizes sizes{};
    InitialRule initial{};
    bool fixed = false;  ///< a buffer, not learnt
};

/// A tensor that a layer keeps and does not learn.
struct LayerBuffer {
    std::string role{};  ///< "running_mean"
    std::vector<std::int64_t> sizes{};
};

class LayerCall;

/// A kind of layer. The notation, its help and its shapes read it.
struct LayerKind {
    std::string name{};
    std::string help{};  ///< one sentence
    std::vector<LayerArgument> arguments{};
    /// Sets outputs and parameters from inputs and arguments; throws Failure for what does not fit.
    void (*shape)(LayerCall& call) = nullptr;
    int fewest_inputs = 1, most_inputs = 1;
    bool merges = false;   ///< takes several values and is no module
    bool bare = false;     ///< a tensor, no module, that takes no input
    bool weighted = false;  ///< has parameters, so needs a module
    int dimensions = 0;    ///< of `sizes` and `padding`
    LayerArguments::Table::Entries defaults{};  ///< of arguments; layer_kinds() fills them
    /// Arguments that come without a name in PyTorch, where these are others than `arguments`; "": a size of the input.
    std::vector<std::string> pytorch_order{};
    std::vector<std::string> roles{};  ///< parameters that init lines may name; weight and bias mean all of them
};

inline constexpr int many_inputs = std::numeric_limits<int>::max();

/// All kinds, in the order of kinds.inc.
std::span<const LayerKind> layer_kinds();
const LayerKind* find_layer_kind(std::string_view name);
/// The kind that a misspelt name, or one of Keras or Caffe, most likely means; empty: none.
std::string nearest_layer_kind(std::string_view name);

/// A layer while its shapes are found.
class LayerCall {
public:
    const LayerKind& kind;
    const LayerArguments& arguments;
    std::vector<TensorType> inputs{};
    std::vector<std::string> input_names{};  ///< for messages
    TextPlace place{};
    std::string tied{};  ///< the parameter that `weight=` names, with its sizes
    Sizes tied_sizes{};

    std::vector<TensorType> outputs{};
    std::vector<std::string> output_roles{""};  ///< "hidden" of LSTM's second output
    std::vector<LayerParameter> parameters{};
    std::vector<LayerBuffer> buffers{};
    /// Forward pass of one sample: two for a multiply-add, as the X-ray counts. T counts as 1.
    double flops = 0;

    [[noreturn]] void fail(Message text) const { throw Failure{place, std::move(text), {}}; }

    const TensorType& input(std::size_t index = 0) const { return inputs[index]; }
    const Sizes& sizes() const { return inputs.front().sizes; }
    /// The dimension, from 0; negative ones count from the end of `rank`.
    int dimension(std::int64_t given, int rank) const;
    int dimension(std::int64_t given) const { return dimension(given, input().rank()); }
    /// A size of the first input that has to be a number.
    std::int64_t number_at(int dimension) const;
    void need_rank(int rank, const char* form) const;
    void need_numbers(const TensorType& type) const;
    /// Adds an output, of numbers with fractions.
    void give(Sizes sizes);
    void parameter(std::string role, Sizes sizes, InitialRule initial);
    /// Counts N as one sample.
    static double elements(const Sizes& sizes);
    /// As most operations count: the largest of inputs and outputs.
    void count_elements();
};

}  // namespace engine::network
