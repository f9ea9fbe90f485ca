#pragma once

#include <string>
#include <string_view>

/// Names of modules, "layer1.0.conv1", and words made of names.
namespace engine::network {

inline std::string last_part(const std::string& module) { return module.substr(module.rfind('.') + 1); }

/// Whether a name lies in a module; all lie in the network, whose name is empty.
inline bool lies_in(const std::string& name, const std::string& module) {
    return module.empty() || (name.size() > module.size() && name.starts_with(module) && name[module.size()] == '.');
}

/// The name as the module calls it in which it lies.
inline std::string below(const std::string& name, const std::string& module) { return module.empty() ? name : name.substr(module.size() + 1); }

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_number(std::string_view name) { return !name.empty() && name.find_first_not_of("0123456789") == name.npos; }

/// In small letters, with _ instead of all but letters and digits.
inline std::string small_word(std::string_view name) {
    std::string out;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z')
            out += static_cast<char>(c - 'A' + 'a');
        else
            out += (c >= 'a' && c <= 'z') || is_digit(c) ? c : '_';
    }
    return out;
}

/// The name, with a number behind it where `taken` has it; adds it there.
template <typename Names>
std::string unique_name(const std::string& wanted, Names& taken) {
    std::string name = wanted;
    for (int i = 2; !taken.insert(name).second; ++i) name = wanted + '_' + std::to_string(i);
    return name;
}

}  // namespace engine::network
