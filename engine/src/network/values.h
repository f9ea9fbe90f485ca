#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "network/syntax.h"
#include "network/tensor_type.h"

namespace engine::network {

struct Value;
using ValueList = std::vector<Value>;

/// A list that its copies share.
struct SharedList {
    std::shared_ptr<const ValueList> items{};
    std::size_t weight = 1;  ///< lists, and items that are none, in it and in the lists in it
    int depth = 1;

    SharedList(ValueList list);
};

/// A rule for initial weights with its arguments: normal(0.02).
struct ValueCall {
    std::string name{};
    ValueList arguments;  // clang 14 needs a complete Value for an initializer
};
/// A value of the graph that is named where a number could stand: "wte.weight".
struct ValueReference {
    std::string path{};
};

/// Result of an expression. Nothing: unknown, because of a fault above.
struct Value {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, SharedList, Size, ValueCall, ValueReference> data{};
    /// Words that the option of this value, or of the list that it is an item of, takes; null: any.
    const std::vector<std::string>* words = nullptr;

    bool known() const { return data.index() != 0; }
    template <typename T>
    const T* as() const {
        if constexpr (std::is_same_v<T, ValueList>) {
            const auto* shared = std::get_if<SharedList>(&data);
            return shared != nullptr ? shared->items.get() : nullptr;
        } else {
            return std::get_if<T>(&data);
        }
    }
    /// 4 and 4.0; nothing for fractions, numbers from 2^62 and other values.
    std::optional<std::int64_t> whole() const;
};

/// As the notation writes it.
std::string to_string(const Value& value);
/// For a message: a long list is cut.
std::string brief(const Value& value);

/// A statement cannot be evaluated.
struct Failure {
    TextPlace place{};
    Message text{};
    std::optional<std::string> replacement{};
};
/// It cannot be evaluated because of a fault elsewhere, which has been reported.
struct Unknown {};
/// The text does too much: nothing after it is looked at.
struct Overrun {
    Failure failure;
};

/// The names that an expression can see.
class Surroundings {
public:
    virtual ~Surroundings() = default;
    /// Null: there is no such variable.
    virtual const Value* variable(std::string_view name) const = 0;
    /// The type of a value of the graph; null: there is none. Throws Unknown for one with a fault.
    virtual const TensorType* tensor(std::string_view path) const = 0;
    /// Variables and values, to suggest one.
    virtual std::vector<std::string> known_names() const = 0;
    /// Whether a fault at this place says nothing new, since its line has one.
    virtual bool is_reported(const TextPlace& place) const = 0;
};

/// Computes expressions of one text (network notation, rules 13 and 14).
class Evaluator {
public:
    static constexpr std::int64_t most_operators = 1'000'000;

    explicit Evaluator(std::vector<NetworkFault>& notes) : notes_(notes) {}

    /// `choices`: words that the place of the expression takes. Throws Failure, Unknown or Overrun.
    Value evaluate(const Expression& expression, const Surroundings& in, std::span<const std::string> choices = {});
    bool truth(const Expression& expression, const Surroundings& in);
    /// A whole number below 2^62.
    std::int64_t whole(const Expression& expression, const Surroundings& in);

private:
    /// Throws Overrun when all expressions together have done too much.
    void count(const Expression& expression, std::size_t operators);
    void count_list(const Expression& expression, const Value& list);
    Value path(const Expression& expression, const Surroundings& in, std::span<const std::string> choices);
    Value call(const Expression& expression, const Surroundings& in, std::span<const std::string> choices);
    Value item(const Expression& expression, const Surroundings& in);
    Value chain(const Expression& expression, const Surroundings& in);
    ValueList values(const Expression& expression, const Surroundings& in);

    std::vector<NetworkFault>& notes_;
    std::set<std::pair<int, int>> noted_{};  // lines and columns: a note is given once a place
    std::int64_t evaluated_ = 0;
};

}  // namespace engine::network
