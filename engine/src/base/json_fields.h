#pragma once

#include <concepts>
#include <stdexcept>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/names.h"

namespace engine {

/// The JSON form of a struct, for writing and reading:
///     void list_fields(const auto& f, Is<TYPE> auto& value)
/// in this namespace calls for the fields in order
///     f(key, member...)               always there
///     f.may_lack(key, member...)      always written; texts of other versions may lack it
///     f.finite(key, number)           null where it is not finite
///     f.unless(key, member, usual)    left out where it has the usual value
///     f.derived(key, [&] { ... })     written alone
/// Numbers that are not finite are words (json_number()), an absent optional is null.
template <typename T, typename Type>
concept Is = std::same_as<std::remove_const_t<T>, Type>;

struct FieldWriter {
    nlohmann::ordered_json& object;

    template <typename T, typename... More>
    void operator()(const char* key, const T& value, const More&... more) const {
        if constexpr (std::floating_point<T>) {
            object[key] = json_number(static_cast<double>(value));
        } else if constexpr (Named<T>) {
            object[key] = name(value);
        } else if constexpr (requires { value.has_value(); }) {
            object[key] = nullptr;
            if (value) (*this)(key, *value);
        } else if constexpr (requires { typename T::mapped_type; }) {
            object[key] = nlohmann::ordered_json::object();
            for (const auto& [name, each] : value) FieldWriter{object[key]}(name.c_str(), each);
        } else {
            object[key] = value;
        }
        if constexpr (sizeof...(more) > 0) (*this)(more...);
    }
    void may_lack(const auto&... fields) const { (*this)(fields...); }
    void finite(const char* key, double value) const { object[key] = finite_or_null(value); }
    void unless(const char* key, const auto& value, const auto& usual) const {
        if (value != usual) (*this)(key, value);
    }
    void derived(const char* key, const auto& make) const { (*this)(key, make()); }
};

struct FieldReader {
    const nlohmann::json& object;

    template <typename... More>
    void operator()(const char* key, auto& value, More&&... more) const {
        read(object.at(key), value);
        if constexpr (sizeof...(more) > 0) (*this)(more...);
    }
    template <typename... More>
    void may_lack(const char* key, auto& value, More&&... more) const {
        if (const auto at = object.find(key); at != object.end()) read(*at, value);
        if constexpr (sizeof...(more) > 0) may_lack(more...);
    }
    void finite(const char* key, double& value) const { (*this)(key, value); }
    void unless(const char* key, auto& value, const auto& usual) const {
        value = usual;
        may_lack(key, value);
    }
    void derived(const char*, const auto&) const {}

private:
    template <typename T>
    static void read(const nlohmann::json& json, T& value) {
        if constexpr (std::floating_point<T>) {
            value = static_cast<T>(number_of(json));
        } else if constexpr (Named<T>) {
            const auto found = value_of_name<T>(json.get_ref<const std::string&>());
            if (!found) throw std::invalid_argument("unknown name");
            value = *found;
        } else if constexpr (requires { value.has_value(); }) {
            if (json.is_null()) {
                value.reset();
            } else {
                typename T::value_type held{};
                read(json, held);
                value = std::move(held);
            }
        } else if constexpr (requires { typename T::mapped_type; }) {
            value.clear();
            for (const auto& [name, each] : json.get_ref<const nlohmann::json::object_t&>())
                read(each, value[name]);
        } else {
            json.get_to(value);
        }
    }
};

template <typename T>
concept HasFields = requires(const FieldWriter& f, T& value) { list_fields(f, value); };

template <HasFields T>
void to_json(nlohmann::ordered_json& out, const T& value) {
    out = nlohmann::ordered_json::object();
    list_fields(FieldWriter{out}, value);
}
/// Throws json::exception, or std::invalid_argument for an unknown name.
template <HasFields T>
void from_json(const nlohmann::json& in, T& value) {
    list_fields(FieldReader{in}, value);
}

}  // namespace engine
