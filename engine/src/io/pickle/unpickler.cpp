#include "io/pickle/unpickler.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "engine/base/error.h"

namespace engine {
namespace {

/// Opcodes as pickletools names them. Those that torch.save does not write are refused.
enum class Opcode : std::uint8_t {
    mark = '(',
    stop = '.',
    pop = '0',
    pop_mark = '1',
    dup = '2',
    binfloat = 'G',
    binint = 'J',
    binint1 = 'K',
    binint2 = 'M',
    none = 'N',
    binpersid = 'Q',
    reduce = 'R',
    binstring = 'T',
    short_binstring = 'U',
    binunicode = 'X',
    append = 'a',
    build = 'b',
    global = 'c',
    empty_dict = '}',
    appends = 'e',
    binget = 'h',
    long_binget = 'j',
    empty_list = ']',
    binput = 'q',
    long_binput = 'r',
    setitem = 's',
    tuple = 't',
    empty_tuple = ')',
    setitems = 'u',
    list = 'l',
    dict = 'd',
    binbytes = 'B',
    short_binbytes = 'C',
    proto = 0x80,
    newobj = 0x81,
    newobj_ex = 0x92,
    tuple1 = 0x85,
    tuple2 = 0x86,
    tuple3 = 0x87,
    newtrue = 0x88,
    newfalse = 0x89,
    long1 = 0x8a,
    long4 = 0x8b,
    short_binunicode = 0x8c,
    binunicode8 = 0x8d,
    binbytes8 = 0x8e,
    empty_set = 0x8f,
    additems = 0x90,
    frozenset = 0x91,
    stack_global = 0x93,
    memoize = 0x94,
    frame = 0x95,
    bytearray8 = 0x96,
};

constexpr PickleRef mark_ref = ~PickleRef{0};
constexpr PickleRef absent = ~PickleRef{0} - 1;

/// The bytes of a pickle in order. Numbers are little-endian.
class Input {
public:
    explicit Input(std::string_view text) : text_(text) {}

    std::string_view take(std::uint64_t count) {
        if (count > text_.size()) fail(msg("it ends too early"));
        const std::string_view out = text_.substr(0, count);
        text_.remove_prefix(count);
        return out;
    }
    template <typename T>
    T number() {
        T value{};
        std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
        return value;
    }
    double big_endian_double() {
        const auto bits = number<std::uint64_t>();
        return std::bit_cast<double>(__builtin_bswap64(bits));
    }
    std::string line() {
        const auto end = text_.find('\n');
        if (end == std::string_view::npos) fail(msg("it ends too early"));
        std::string out(take(end));
        take(1);
        return out;
    }

private:
    std::string_view text_;
};

class Unpickler {
public:
    Unpickler(std::string_view text, PickleRules& rules) : in_(text), rules_(rules) {}

    PickleValues run() {
        check_protocol();
        for (;;) {
            const auto op = static_cast<Opcode>(in_.number<std::uint8_t>());
            if (op == Opcode::stop) break;
            if (!number(op) && !text(op) && !container(op) && !memory(op) && !object(op))
                fail(msg("it has an instruction ({}) that torch.save does not write",
                         static_cast<int>(op)));
        }
        all_.root = pop();
        return std::move(all_);
    }

private:
    void check_protocol() {
        const auto op = static_cast<Opcode>(in_.number<std::uint8_t>());
        const int version = op == Opcode::proto ? in_.number<std::uint8_t>() : 0;
        if (version < 2 || version > 5) fail(msg("its pickle is not of protocol 2 to 5"));
    }

    // The stack.

    void push(PickleRef ref) { stack_.push_back(ref); }
    void push(PickleValue value) {
        if (all_.values.size() >= max_pickle_values) fail(msg("it has too many values"));
        all_.values.push_back(std::move(value));
        push(static_cast<PickleRef>(all_.values.size() - 1));
    }
    PickleRef pop() {
        if (stack_.empty() || stack_.back() == mark_ref) fail(msg("its stack is damaged"));
        const PickleRef ref = stack_.back();
        stack_.pop_back();
        return ref;
    }
    PickleRef top() {
        const PickleRef ref = pop();
        push(ref);
        return ref;
    }
    /// Removes and returns everything above the last mark, and the mark.
    std::vector<PickleRef> pop_to_mark() {
        std::size_t at = stack_.size();
        while (at > 0 && stack_[at - 1] != mark_ref) --at;
        if (at == 0) fail(msg("its stack is damaged"));
        const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(at);
        std::vector<PickleRef> out(first, stack_.end());
        stack_.erase(first - 1, stack_.end());
        return out;
    }
    template <typename T>
    T& need(PickleRef ref) {
        T* value = std::get_if<T>(&all_.values[ref]);
        if (value == nullptr) fail(msg("its values do not have the types that they are used as"));
        return *value;
    }

    // Instructions by family; false: of another one.

    bool number(Opcode op) {
        switch (op) {
            case Opcode::none:
                push(PickleValue(PickleNone{}));
                return true;
            case Opcode::newtrue:
            case Opcode::newfalse:
                push(PickleValue(op == Opcode::newtrue));
                return true;
            case Opcode::binint:
                push(PickleValue(std::int64_t{in_.number<std::int32_t>()}));
                return true;
            case Opcode::binint1:
                push(PickleValue(std::int64_t{in_.number<std::uint8_t>()}));
                return true;
            case Opcode::binint2:
                push(PickleValue(std::int64_t{in_.number<std::uint16_t>()}));
                return true;
            case Opcode::long1:
                push(integer(in_.take(in_.number<std::uint8_t>())));
                return true;
            case Opcode::long4:
                push(integer(in_.take(in_.number<std::uint32_t>())));
                return true;
            case Opcode::binfloat:
                push(PickleValue(in_.big_endian_double()));
                return true;
            default:
                return false;
        }
    }

    /// Two's complement of any length.
    static PickleValue integer(std::string_view bytes) {
        if (bytes.size() > sizeof(std::int64_t)) return PickleOther{};
        const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
        std::uint64_t bits = negative ? ~std::uint64_t{0} : 0;
        std::memcpy(&bits, bytes.data(), bytes.size());
        return static_cast<std::int64_t>(bits);
    }

    bool text(Opcode op) {
        const std::optional<std::uint64_t> length = text_length(op);
        if (!length) return false;
        const std::string_view bytes = in_.take(*length);
        const bool is_text = op == Opcode::binunicode || op == Opcode::short_binunicode ||
                             op == Opcode::binunicode8 || op == Opcode::binstring ||
                             op == Opcode::short_binstring;
        push(is_text ? PickleValue(std::string(bytes)) : PickleValue(PickleOther{}));
        return true;
    }
    std::optional<std::uint64_t> text_length(Opcode op) {
        switch (op) {
            case Opcode::short_binunicode:
            case Opcode::short_binstring:
            case Opcode::short_binbytes:
                return in_.number<std::uint8_t>();
            case Opcode::binunicode:
            case Opcode::binstring:
            case Opcode::binbytes:
                return in_.number<std::uint32_t>();
            case Opcode::binunicode8:
            case Opcode::binbytes8:
            case Opcode::bytearray8:
                return in_.number<std::uint64_t>();
            default:
                return std::nullopt;
        }
    }

    bool container(Opcode op) {
        switch (op) {
            case Opcode::empty_list:
            case Opcode::empty_tuple:
                push(PickleValue(PickleSequence{{}, op == Opcode::empty_tuple}));
                return true;
            case Opcode::list:
            case Opcode::tuple:
                push(PickleValue(PickleSequence{pop_to_mark(), op == Opcode::tuple}));
                return true;
            case Opcode::tuple1:
            case Opcode::tuple2:
            case Opcode::tuple3:
                push_tuple(static_cast<std::size_t>(op) - static_cast<std::size_t>(Opcode::tuple1) + 1);
                return true;
            case Opcode::append: {
                const PickleRef item = pop();
                add_items({item});
                return true;
            }
            case Opcode::appends:
                add_items(pop_to_mark());
                return true;
            default:
                return dictionary(op);
        }
    }
    void add_items(const std::vector<PickleRef>& items) {
        if (is_other(top())) return;  // of a class derived from list: not needed
        auto& list = need<PickleSequence>(top()).items;
        list.insert(list.end(), items.begin(), items.end());
    }
    bool is_other(PickleRef ref) const {
        return std::holds_alternative<PickleOther>(all_.values[ref]);
    }
    void push_tuple(std::size_t count) {
        std::vector<PickleRef> items(count);
        for (std::size_t i = count; i-- > 0;) items[i] = pop();
        push(PickleValue(PickleSequence{std::move(items), true}));
    }

    bool dictionary(Opcode op) {
        switch (op) {
            case Opcode::empty_dict:
                push(PickleValue(PickleDict{}));
                return true;
            case Opcode::dict: {
                const auto items = pop_to_mark();
                push(PickleValue(PickleDict{}));
                set_items(items);
                return true;
            }
            case Opcode::setitem: {
                const PickleRef value = pop(), key = pop();
                set_items({key, value});
                return true;
            }
            case Opcode::setitems:
                set_items(pop_to_mark());
                return true;
            case Opcode::empty_set:
                push(PickleValue(PickleOther{}));
                return true;
            case Opcode::additems:
                pop_to_mark();
                need<PickleOther>(top());
                return true;
            case Opcode::frozenset:
                pop_to_mark();
                push(PickleValue(PickleOther{}));
                return true;
            default:
                return false;
        }
    }
    void set_items(const std::vector<PickleRef>& items) {
        if (items.size() % 2 != 0) fail(msg("its stack is damaged"));
        // An object of a class derived from dict, such as Lightning's AttributeDict, becomes a dict
        // here.
        if (is_other(top())) all_.values[top()] = PickleDict{};
        auto& dict = need<PickleDict>(top()).items;
        for (std::size_t i = 0; i < items.size(); i += 2) dict.emplace_back(items[i], items[i + 1]);
    }

    bool memory(Opcode op) {
        switch (op) {
            case Opcode::binput:
                remember(in_.number<std::uint8_t>());
                return true;
            case Opcode::long_binput:
                remember(in_.number<std::uint32_t>());
                return true;
            case Opcode::memoize:
                remember(memo_.size());
                return true;
            case Opcode::binget:
                recall(in_.number<std::uint8_t>());
                return true;
            case Opcode::long_binget:
                recall(in_.number<std::uint32_t>());
                return true;
            case Opcode::mark:
                push(mark_ref);
                return true;
            case Opcode::pop:
                if (!stack_.empty() && stack_.back() == mark_ref) {
                    stack_.pop_back();
                } else {
                    pop();
                }
                return true;
            case Opcode::pop_mark:
                pop_to_mark();
                return true;
            case Opcode::dup:
                push(top());
                return true;
            case Opcode::frame:
                in_.number<std::uint64_t>();  // a hint for readers of streams
                return true;
            default:
                return false;
        }
    }
    void remember(std::size_t index) {
        if (index >= max_pickle_values) fail(msg("it has too many values"));
        if (index >= memo_.size()) memo_.resize(index + 1, absent);
        memo_[index] = top();
    }
    void recall(std::size_t index) {
        if (index >= memo_.size() || memo_[index] == absent) fail(msg("its stack is damaged"));
        push(memo_[index]);
    }

    bool object(Opcode op) {
        switch (op) {
            case Opcode::global: {
                std::string module = in_.line();
                push_global(std::move(module), in_.line());
                return true;
            }
            case Opcode::stack_global: {
                const std::string name = need<std::string>(pop());
                push_global(need<std::string>(pop()), name);
                return true;
            }
            case Opcode::reduce:
            case Opcode::newobj:
                call();
                return true;
            case Opcode::newobj_ex:
                pop();  // arguments by name
                call();
                return true;
            case Opcode::build:
                pop();  // attributes of the instance below
                top();
                return true;
            case Opcode::binpersid:
                push(rules_.stored(pop(), all_));
                return true;
            default:
                return false;
        }
    }
    void push_global(std::string module, const std::string& name) {
        std::string global = std::move(module) + "." + name;
        if (!rules_.allows(global))
            fail(msg("it names {}, which is neither a tensor nor a plain value",
                     shown_name(global)));
        push(PickleValue(PickleGlobal{std::move(global)}));
    }
    void call() {
        const PickleRef arguments = pop(), function = pop();
        if (is_other(function)) return push(function);  // a method of an object: nothing either
        const auto made = rules_.call(need<PickleGlobal>(function).name,
                                      need<PickleSequence>(arguments).items, all_);
        if (const auto* ref = std::get_if<PickleRef>(&made)) {
            push(*ref);
        } else {
            push(std::get<PickleValue>(made));
        }
    }

    Input in_;
    PickleRules& rules_;
    PickleValues all_;
    std::vector<PickleRef> stack_;
    std::vector<PickleRef> memo_;
};

}  // namespace

std::string shown_name(std::string name) {
    constexpr std::size_t longest = 80;
    name.resize(std::min(name.size(), longest));
    for (char& c : name) c = c < ' ' || c > '~' ? '?' : c;
    return name;
}

PickleValues unpickle(std::string_view pickle, PickleRules& rules) {
    return Unpickler(pickle, rules).run();
}

}  // namespace engine
