#include "io/coco/json_scanner.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{4} << 30;
constexpr std::size_t longest_text = std::size_t{64} << 20;
constexpr std::size_t deepest = 64;
constexpr int end_of_text = -1;

/// The bytes of a source, one after the other.
class SourceBytes {
public:
    SourceBytes(const std::string& name, const CocoSource& source)
        : name_(name), source_(source), buffer_(std::size_t{1} << 18) {
        fill();
    }
    int peek() const { return at_ < size_ ? buffer_[at_] : end_of_text; }
    void next() {
        if (++at_ == size_) fill();
    }
    /// Bytes before the next one.
    std::uint64_t position() const { return read_ - size_ + at_; }

private:
    void fill() {
        at_ = 0;
        size_ = ended_ ? 0 : source_(buffer_);
        ended_ = size_ < buffer_.size();
        read_ += size_;
        if (read_ > largest_file)
            throw Error(ErrorCode::data, msg("{} is larger than 4 GiB", name_));
    }

    const std::string& name_;
    const CocoSource& source_;
    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0, size_ = 0;
    std::uint64_t read_ = 0;
    bool ended_ = false;
};

bool is_digit(int c) { return c >= '0' && c <= '9'; }

class JsonScanner {
public:
    JsonScanner(const std::string& name, const CocoSource& source, JsonEvents& events)
        : name_(name), in_(name, source), to_(events) {}

    void run() {
        for (const int c : {0xEF, 0xBB, 0xBF}) {
            if (c == 0xEF && in_.peek() != c) break;
            expect(c);
        }
        read_value();
        while (!open_.empty()) {
            const bool object = open_.back() == '{';
            skip_space();
            if (in_.peek() == (object ? '}' : ']')) {
                close(object);
                continue;
            }
            if (!first_) {
                expect(',');
                skip_space();
            }
            if (object) {
                read_text();
                to_.on_key(text_);
                skip_space();
                expect(':');
            }
            read_value();
        }
        skip_space();
        if (in_.peek() != end_of_text) refuse();
    }

private:
    [[noreturn]] void refuse() const {
        throw Error(ErrorCode::data,
                    msg("{} is not JSON, or is cut short, at byte {}", name_, in_.position() + 1),
                    msg("Download or export it again."));
    }
    void expect(int c) {
        if (in_.peek() != c) refuse();
        in_.next();
    }
    /// Packed, white space of many GiB is a small file.
    void skip_space() {
        std::size_t count = 0;
        for (int c = in_.peek(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = in_.peek()) {
            if (++count > longest_text) refuse_length();
            in_.next();
        }
    }

    void open(char bracket) {
        in_.next();
        if (open_.size() == deepest)
            throw Error(ErrorCode::data,
                        msg("{} is nested more than {} levels deep", name_, deepest));
        open_.push_back(bracket);
        first_ = true;
        bracket == '{' ? to_.on_object_begin() : to_.on_list_begin();
    }
    void close(bool object) {
        in_.next();
        open_.pop_back();
        first_ = false;
        object ? to_.on_object_end() : to_.on_list_end();
    }

    /// A plain value to its end; a list or an object as far as its bracket.
    void read_value() {
        skip_space();
        const int c = in_.peek();
        if (c == '{' || c == '[') return open(static_cast<char>(c));
        first_ = false;
        if (c == '"') {
            read_text();
            return to_.on_text(text_);
        }
        if (c == 'n') return read_word("null"), to_.on_null();
        if (c == 't') return read_word("true"), to_.on_boolean(true);
        if (c == 'f') return read_word("false"), to_.on_boolean(false);
        read_number();
    }
    void read_word(const char* word) {
        for (; *word != '\0'; ++word) expect(*word);
    }

    int add_digits() {
        if (!is_digit(in_.peek())) refuse();
        int count = 0;
        for (; is_digit(in_.peek()); ++count) take();
        return count;
    }
    void take() {
        if (text_.size() == longest_text) refuse_length();
        text_ += static_cast<char>(in_.peek());
        in_.next();
    }
    void read_number() {
        text_.clear();
        if (in_.peek() == '-') take();
        if (in_.peek() == '0')
            take();
        else
            add_digits();
        int decimals = 0;
        bool exponent = false;
        if (in_.peek() == '.') {
            take();
            decimals = add_digits();
        }
        if (in_.peek() == 'e' || in_.peek() == 'E') {
            exponent = true;
            take();
            if (in_.peek() == '+' || in_.peek() == '-') take();
            add_digits();
        }
        if (decimals == 0 && !exponent) {
            std::int64_t whole = 0;
            const char* const end = text_.data() + text_.size();
            if (std::from_chars(text_.data(), end, whole).ec == std::errc{})
                return to_.on_number(static_cast<double>(whole), whole);
        }
        to_.on_number(number(decimals, exponent), {});
    }
    /// The value of text_. Digits that a double holds, over a power of ten that it holds too, give
    /// the nearest double by one division.
    double number(int decimals, bool exponent) const {
        constexpr std::size_t exact_digits = 15;
        constexpr std::array powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
        if (!exponent && text_.size() <= exact_digits) {
            std::int64_t digits = 0;
            for (const char c : text_)
                if (is_digit(c)) digits = digits * 10 + (c - '0');
            const double value =
                static_cast<double>(digits) / powers[static_cast<std::size_t>(decimals)];
            return text_.front() == '-' ? -value : value;
        }
        double value = 0;
        const auto [stop, error] =
            std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error == std::errc{}) return value;
        // Too small is as good as zero; too large is nothing that a box or a polygon can have.
        const double nearest = std::strtod(text_.c_str(), nullptr);
        if (std::isfinite(nearest)) return nearest;
        throw Error(ErrorCode::data, msg("{}, byte {}: the number {} is too large", name_,
                                         in_.position(), text_.substr(0, 40)));
    }

    [[noreturn]] void refuse_length() const {
        throw Error(ErrorCode::data, msg("{} holds a text of more than 64 MiB", name_));
    }
    /// Into text_, as UTF-8.
    void read_text() {
        expect('"');
        text_.clear();
        for (int c = in_.peek(); c != '"'; c = in_.peek()) {
            if (c < 0x20) refuse();  // the end, too
            if (c == '\\')
                read_escape();
            else if (c < 0x80)
                take();
            else
                take_sequence(c);
        }
        in_.next();
    }
    /// A character of two to four bytes: no overlong form, surrogate or number above U+10FFFF.
    void take_sequence(int lead) {
        const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4) refuse();
        take();
        for (int i = 0; i < more; ++i) {
            const int c = in_.peek();
            const int least = i > 0 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
            const int most = i > 0 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
            if (c < least || c > most) refuse();
            take();
        }
    }
    void read_escape() {
        in_.next();
        const int c = in_.peek();
        constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
        if (c == 'u') return read_code_point();
        const auto at = c < 0 ? names.npos : names.find(static_cast<char>(c));
        if (at == names.npos) refuse();
        add(static_cast<std::uint32_t>(values[at]));
        in_.next();
    }
    std::uint32_t read_hex() {
        expect('u');
        std::uint32_t out = 0;
        for (int i = 0; i < 4; ++i) {
            const int c = in_.peek();
            const int digit = is_digit(c)            ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) refuse();
            out = out * 16 + static_cast<std::uint32_t>(digit);
            in_.next();
        }
        return out;
    }
    void read_code_point() {
        std::uint32_t code = read_hex();
        if (code >= 0xDC00 && code < 0xE000) refuse();
        if (code >= 0xD800 && code < 0xDC00) {
            expect('\\');
            const std::uint32_t low = read_hex();
            if (low < 0xDC00 || low >= 0xE000) refuse();
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        add(code);
    }
    void add(std::uint32_t code) {
        if (text_.size() + 4 > longest_text) refuse_length();
        const auto byte = [this](std::uint32_t value) { text_ += static_cast<char>(value); };
        const auto rest = [&](int shift) { byte(0x80 | (code >> shift & 0x3F)); };
        if (code < 0x80) return byte(code);
        if (code < 0x800) return byte(0xC0 | code >> 6), rest(0);
        if (code < 0x10000) return byte(0xE0 | code >> 12), rest(6), rest(0);
        byte(0xF0 | code >> 18), rest(12), rest(6), rest(0);
    }

    const std::string& name_;
    SourceBytes in_;
    JsonEvents& to_;
    std::string text_;        // of the value or key
    std::vector<char> open_;  // brackets
    bool first_ = false;      // nothing has stood in the innermost bracket
};

}  // namespace

void scan_json(const std::string& name, const CocoSource& source, JsonEvents& events) {
    JsonScanner(name, source, events).run();
}

}  // namespace engine
