#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/names.h"
#include "tensor/op.h"

namespace engine {

/// The arguments that an op's signature names.
class Signature {
public:
    explicit Signature(const Op& op);

    struct Argument {
        std::string name;
        bool optional = false;  ///< "x?"
        std::string otherwise;  ///< "dim=0"; empty: it must be given
    };
    const std::vector<Argument>& tensors() const { return tensors_; }
    const std::vector<Argument>& attributes() const { return attributes_; }

private:
    std::vector<Argument> tensors_, attributes_;
};

/// The arguments of a call by name, one after the other as the C++ function takes them.
class NamedArguments {
public:
    NamedArguments(const Op& op, const OpArguments& given);

    /// The next tensor or attribute of that type.
    template <typename T>
    T next() {
        if constexpr (std::is_same_v<T, Tensor>) {
            return tensor();
        } else if constexpr (std::is_same_v<T, TensorList>) {
            return list();
        } else if constexpr (requires(T t) { t.read(*this); }) {
            T out;
            out.read(*this);
            return out;
        } else {
            return attribute<T>(name_of_next());
        }
    }

    /// Sets a member of a struct of attributes if it was given.
    template <typename T>
    NamedArguments& operator()(const std::string& name, T& field) {
        read_.insert(name);
        if (given_.has(name)) field = attribute<T>(name);
        return *this;
    }
    /// An attribute that is a word, or "".
    std::string word(const std::string& name) const;
    Tensor tensor();

private:
    TensorList list();
    /// Enters the default of an attribute that was not given.
    std::string name_of_next();
    /// One number for all of `count`, or one for each.
    std::vector<std::int64_t> numbers(const std::string& name, std::size_t count) const;
    template <typename T>
    T attribute(const std::string& name) const;

    std::string op_;
    Signature signature_;
    OpArguments given_;
    int tensors_ = 0;
    std::set<std::string> read_;  // attributes that were taken
};

namespace detail {

template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
constexpr std::size_t array_size = 0;
template <std::size_t count>
constexpr std::size_t array_size<std::array<std::int64_t, count>> = count;

inline TensorList listed(const Tensor& result) { return {result}; }
inline TensorList listed(const TensorList& results) { return results; }
template <typename T>
requires requires(T t) { t.values; }
TensorList listed(const T& result) {
    if (!result.indices.defined()) return {result.values};
    return {result.values, result.indices};
}

template <typename R, typename... P>
TensorList call_by_name(R (*f)(P...), const Op& op, const OpArguments& args) {
    NamedArguments named(op, args);
    const std::tuple<std::decay_t<P>...> values{named.next<std::decay_t<P>>()...};
    return listed(std::apply(f, values));
}

}  // namespace detail

template <typename T>
T NamedArguments::attribute(const std::string& name) const {
    if constexpr (std::is_same_v<T, std::optional<DType>>) {
        return given_.dtype(name);
    } else if constexpr (detail::is_optional<T>) {
        return given_.has(name) ? T(attribute<typename T::value_type>(name)) : T();
    } else if constexpr (std::is_same_v<T, bool>) {
        return given_.flag(name, false);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
        return given_.numbers(name);
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(given_.integer(name, 0));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(given_.number(name, 0));
    } else if constexpr (std::is_same_v<T, std::string>) {
        return given_.text(name, "");
    } else if constexpr (std::is_same_v<T, DType>) {
        return *given_.dtype(name);
    } else if constexpr (Named<T>) {
        if (const auto value = value_of_name<T>(given_.text(name, ""))) return *value;
        std::string known;
        for (const char* each : enum_names<T>)
            known += (known.empty() ? "" : ", ") + std::string(each);
        throw Error(ErrorCode::value,
                    op_ + ": " + name + " is one of " + known + ", not " + word(name));
    } else if constexpr (std::is_same_v<T, std::variant<std::string, double>>) {
        const std::string given = word(name);
        return given.empty() || given.ends_with("inf") ? T(given_.number(name, 0)) : T(given);
    } else if constexpr (detail::array_size<T> > 0) {
        T out;
        std::ranges::copy(numbers(name, out.size()), out.begin());
        return out;
    } else {
        return T(given_.integers(name, {}));
    }
}

template <auto f>
TensorList by_name(const Op& op, const OpArguments& args) {
    return detail::call_by_name(f, op, args);
}
template <typename S, S* f>
TensorList by_name_as(const Op& op, const OpArguments& args) {
    return detail::call_by_name(f, op, args);
}

}  // namespace engine
