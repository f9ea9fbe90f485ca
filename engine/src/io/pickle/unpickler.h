#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// A value of a pickle: its place in PickleValues. Values refer to one another by number, so that
/// neither deep nesting nor a cycle costs stack or memory.
using PickleRef = std::uint32_t;

struct PickleNone {};
/// An object whose value nothing here needs: bytes, a set, an integer of more than 64 bits, or an
/// object of a class that the rules do not know. It has no effect.
struct PickleOther {
    std::string global = {};  ///< of an object: its class, or the function that would make it
};
struct PickleGlobal {
    std::string name;  ///< "torch.FloatStorage"
};
struct PickleSequence {
    std::vector<PickleRef> items;
    bool is_tuple = false;
};
struct PickleDict {
    std::vector<std::pair<PickleRef, PickleRef>> items;  ///< a later entry replaces an earlier one
};
/// An object of the rules' own.
struct PickleObject {
    std::size_t index = 0;
};

using PickleValue = std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleOther,
                                 PickleGlobal, PickleSequence, PickleDict, PickleObject>;

/// All values of a pickle, and its result.
struct PickleValues {
    std::vector<PickleValue> values;
    PickleRef root = 0;

    const PickleValue& operator[](PickleRef ref) const { return values[ref]; }
    /// Null if the value is of another kind.
    template <typename T>
    const T* get(PickleRef ref) const {
        return std::get_if<T>(&values[ref]);
    }
};

/// The reason why a pickle cannot be read; becomes an Error once the file's name is known.
struct PickleFault {
    Message reason;
    Message hint = {};  ///< what to do, where there is more to say than for any bad file
};
[[noreturn]] inline void fail(Message reason) { throw PickleFault{std::move(reason)}; }

/// An untrusted name for an error sentence: shortened, and without control characters for a
/// terminal.
std::string shown_name(std::string name);

/// The meaning of the names in a pickle. Nothing else gives a pickle any effect.
class PickleRules {
public:
    virtual ~PickleRules() = default;
    /// Whether the pickle may name "module.name" at all.
    virtual bool allows(std::string_view global) const = 0;
    /// Result of the call that the pickle asks for: a value, or one of the arguments. Throws
    /// PickleFault.
    virtual std::variant<PickleValue, PickleRef> call(const std::string& global,
                                                      std::span<const PickleRef> arguments,
                                                      const PickleValues& all) = 0;
    /// The object that is stored outside the pickle under this identity. Throws PickleFault.
    virtual PickleValue stored(PickleRef identity, const PickleValues& all) = 0;
};

/// Interprets a pickle of protocol 2 to 5 (https://docs.python.org/3/library/pickletools.html) as
/// data: it makes lists, dicts, texts and numbers, and leaves every name to the rules. Instance
/// attributes (BUILD) are dropped; an object that is filled like a dict becomes a dict. Memory is bounded by `pickle`'s size and by max_pickle_values.
/// Throws PickleFault.
PickleValues unpickle(std::string_view pickle, PickleRules& rules);

constexpr std::size_t max_pickle_values = std::size_t{1} << 21;

}  // namespace engine
