#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/message.h"
#include "io/onnx/onnx_file.h"
#include "network/tensor_type.h"

/// The graph of an ONNX file on its way to a text: layers of the notation, and steps between them
/// that lifting joins to layers.
namespace engine::network {

/// A size or whole number: `number`, or so many times N or T.
struct Extent {
    std::int64_t number = 0;
    Size::Symbol symbol = Size::Symbol::none;

    bool is_number() const { return symbol == Size::Symbol::none; }
    friend bool operator==(const Extent&, const Extent&) = default;
};
using Extents = std::vector<Extent>;

inline constexpr Extent batch_extent{1, Size::Symbol::batch};

std::string to_string(const Extents& extents);

/// Why an operator is not read.
struct CannotRead {
    std::string why;
};

/// Numbers that are known before training.
struct ImportedConstant {
    std::string name{};  ///< of the initializer; empty: it was computed
    std::vector<std::int64_t> dims{};
    bool real = true;
    const OnnxTensor* tensor = nullptr;  ///< not read yet
    std::vector<float> numbers{};
    Extents wholes{};
    bool fixed = false;  ///< never learnt, as a mask
    int table = -1;  ///< the constant of which this is the transposed matrix

    std::int64_t count() const;
};

struct ImportedValue {
    Extents sizes{};
    bool whole = false;
    int constant = -1;            ///< its numbers, which may have sizes of 1 where this one repeats them
    std::optional<double> fill{};  ///< all of its numbers, where sizes are symbols
    int step = -1;
    std::string role{};  ///< "hidden" of a recurrent layer
    /// A form of a recurrent layer's value, which the notation has in another order.
    enum class Form { plain, sequence, joined, states, carried };  ///< carried: from the window before
    Form form = Form::plain;
    std::vector<int> of{};  ///< those values

    bool is_constant() const { return constant >= 0 || fill.has_value(); }
};

/// A tensor of a layer: constants that are joined, in the notation's layout.
struct ImportedWeight {
    std::string role{};
    int constant = -1;
    std::vector<std::int64_t> sizes{};
    std::function<std::vector<float>(std::vector<float>)> layout{};  ///< empty: as it is
};

/// A layer, or a step that the notation lacks until lifting has joined it to others.
struct ImportedStep {
    std::string kind{};
    std::string arguments{};
    std::vector<int> inputs{};
    std::vector<int> outputs{};
    std::vector<std::int64_t> list{};  ///< dims of Permute, Mean, Softmax; sizes of a recurrent layer
    std::vector<ImportedWeight> weights{};
    std::string module{};  ///< PyTorch's; empty: unknown
    std::string node{}, op{};
    bool gone = false;
    double order = 0;  ///< among the steps, while lifting adds some
};

class ImportedGraph {
public:
    explicit ImportedGraph(const OnnxFile& read) : file(read) {}

    const OnnxFile& file;
    std::vector<OnnxNode> inlined{};  ///< the file's nodes, if it has functions
    std::vector<ImportedConstant> constants{};
    std::vector<ImportedValue> values{};
    std::vector<ImportedStep> steps{};
    std::unordered_map<std::string, int> names{};  ///< values by their names in the file; -1: not read
    std::vector<int> inputs{}, outputs{};
    std::int64_t fixed_batch = 0, fixed_window = 0;  ///< numbers that the file has for N and T; 0: none
    std::map<std::string, int> lifted{}, dropped{};
    int folded = 0;
    std::vector<Message> notes{};
    std::map<std::string, std::vector<std::string>> refused{};  ///< nodes by operator and reason

    ImportedValue& value(int at) { return values[static_cast<std::size_t>(at)]; }
    const ImportedValue& value(int at) const { return values[static_cast<std::size_t>(at)]; }
    ImportedStep& step(int at) { return steps[static_cast<std::size_t>(at)]; }
    ImportedConstant& constant(int at) { return constants[static_cast<std::size_t>(at)]; }

    int add_value(ImportedValue made);
    int add_constant(ImportedConstant made);
    /// Adds a layer and returns its value.
    int add_step(ImportedStep made, Extents sizes, bool whole = false);
    /// All that took `old` takes `now`.
    void replace(int old, int now);
    /// The steps that take each value; one more for an output of the network.
    std::vector<std::vector<int>> users() const;

    /// The numbers of a constant. Counts them against the limits on folded work.
    const std::vector<float>& numbers(int at);
    const Extents& wholes(int at);
    /// The number that a constant of one element holds.
    std::optional<double> scalar(int at);
    void count_work(std::int64_t elements);

private:
    std::int64_t work_ = 0;
};

/// The file's nodes, with those of functions in the places of their calls. Throws Error(data) for calls that are too deep or too many.
std::vector<OnnxNode> inline_functions(const OnnxFile& file);
/// Makes the graph of the file's operators. Those that are not read stand in `refused`.
void read_graph(ImportedGraph& graph);
/// Joins steps to layers of the notation.
void lift(ImportedGraph& graph);

/// A text of the notation, and the weights by their names in it.
struct WrittenNetwork {
    std::string text{};
    std::vector<std::pair<std::string, const ImportedWeight*>> weights{};
    std::vector<std::pair<std::string, const ImportedWeight*>> tied{};  ///< further names of some, which PyTorch's state_dict has too
    std::vector<std::pair<std::string, int>> bare{};  ///< constants that are parameters
    std::map<int, Extents> shapes{};  ///< of the layers, by line
    int parameters = 0, buffers = 0, constants = 0;
};
WrittenNetwork write_network(ImportedGraph& graph, const std::vector<std::string>& inputs, const std::string& gives, std::int64_t outputs);

}  // namespace engine::network
