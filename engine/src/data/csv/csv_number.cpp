#include "data/csv/csv_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/text_utf8.h"

namespace engine {
namespace {

constexpr std::size_t max_unit_bytes = 24;
constexpr std::size_t max_symbol_letters = 3;  // "US$", "HK$"
constexpr std::size_t group_digits = 3;

/// U+2212, and the dash U+2013 that word processors make of a minus.
constexpr std::array<std::string_view, 2> minus_signs{"\xE2\x88\x92", "\xE2\x80\x93"};
/// Space, no-break space, narrow no-break space, thin space.
constexpr std::array<std::string_view, 4> blanks{" ", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89"};
/// Separators between groups of three digits. A point is one only where there are several.
constexpr std::array<std::string_view, 9> separators{
    ",", " ", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "'", "\xE2\x80\x99", "_", "."};
constexpr std::array<std::string_view, 14> currency_symbols{"$",
                                                            "\xC2\xA2",
                                                            "\xC2\xA3",
                                                            "\xC2\xA4",
                                                            "\xC2\xA5",
                                                            "\xE0\xB8\xBF",
                                                            "\xEF\xB9\xA9",
                                                            "\xEF\xBC\x84",
                                                            "\xEF\xBF\xA0",
                                                            "\xEF\xBF\xA1",
                                                            "\xEF\xBF\xA5",
                                                            "\xEF\xBF\xA6",
                                                            "\xC6\x92",
                                                            "\xE2\x82\xAC"};
constexpr std::array<std::string_view, 32> currency_codes{
    "USD", "EUR", "GBP", "JPY", "CNY", "RMB", "CHF", "INR", "KRW", "AUD", "CAD",
    "NZD", "BRL", "MXN", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "TRY",
    "ZAR", "SGD", "HKD", "TWD", "THB", "ILS", "AED", "SAR", "Rs.", "Rs"};

template <std::size_t count>
bool take_any(std::string_view& text, const std::array<std::string_view, count>& of) {
    for (const auto each : of) {
        if (!text.starts_with(each)) continue;
        text.remove_prefix(each.size());
        return true;
    }
    return false;
}

void skip_blanks(std::string_view& text) {
    while (take_any(text, blanks)) {
    }
}

std::string_view without_last_blanks(std::string_view text) {
    for (bool more = true; more;) {
        more = false;
        for (const auto blank : blanks) {
            if (!text.ends_with(blank)) continue;
            text.remove_suffix(blank.size());
            more = true;
        }
    }
    return text;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

bool is_hexadecimal(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool take_symbol(std::string_view& text) {
    if (take_any(text, currency_symbols)) return true;
    // The block of currency symbols, U+20A0 to U+20CF.
    const bool block = text.size() >= 3 && text.starts_with("\xE2\x82") &&
                       static_cast<unsigned char>(text[2]) >= 0xA0;
    const bool last = text.size() >= 3 && text.starts_with("\xE2\x83") &&
                      static_cast<unsigned char>(text[2]) <= 0x8F;
    if (block || last) text.remove_prefix(3);
    return block || last;
}

/// "$", "US$", "EUR"; nothing if the text begins with no currency.
std::string_view take_currency(std::string_view& text) {
    const std::string_view whole = text;
    for (const auto code : currency_codes) {
        if (!text.starts_with(code) || (text.size() > code.size() && is_letter(text[code.size()])))
            continue;
        text.remove_prefix(code.size());
        return code;
    }
    std::string_view rest = text;
    for (std::size_t i = 0; i < max_symbol_letters && !rest.empty() && is_upper(rest.front()); ++i)
        rest.remove_prefix(1);
    if (!take_symbol(rest)) return {};
    text = rest;
    return whole.substr(0, whole.size() - rest.size());
}

/// True for a minus. `other` becomes true if it is none that programs write.
bool take_sign(std::string_view& text, bool& other) {
    if (text.starts_with('-') || text.starts_with('+')) {
        const bool minus = text.front() == '-';
        text.remove_prefix(1);
        return minus;
    }
    if (!take_any(text, minus_signs)) return false;
    other = true;
    return true;
}

std::string_view take_digits(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
}

/// The separator in front of exactly three digits; nothing if there is none.
std::string_view separator_of_group(std::string_view text) {
    for (const auto separator : separators) {
        if (!text.starts_with(separator)) continue;
        text.remove_prefix(separator.size());
        return take_digits(text).size() == group_digits ? separator : std::string_view();
    }
    return {};
}

/// The digits of a number and how they were written.
struct Body {
    std::string plain;  ///< as programs write it, without a sign
    bool commas = false, ambiguous = false, marks = false;
    bool other_point = false;  ///< a decimal comma, or points between groups
};

/// Digits in groups, if `digits` are the first of them.
void take_groups(std::string_view& text, std::string_view digits, Body& body) {
    if (digits.empty() || digits.size() > group_digits || digits.front() == '0') return;
    const std::string_view separator = separator_of_group(text);
    if (separator.empty()) return;
    std::string_view rest = text;
    std::string grouped;
    std::size_t groups = 0;
    while (separator_of_group(rest) == separator) {
        rest.remove_prefix(separator.size());
        grouped += take_digits(rest);
        ++groups;
    }
    if (separator == "." && groups < 2) return;  // a decimal point
    text = rest;
    body.plain += grouped;
    body.other_point = separator == ".";
    body.commas = separator == ",";
    body.marks = !body.commas && !body.other_point;
    body.ambiguous = body.commas && groups == 1 && !text.starts_with('.');
}

std::optional<Body> take_body(std::string_view& text) {
    Body body;
    const std::string_view digits = take_digits(text);
    body.plain = digits;
    take_groups(text, digits, body);
    if (!body.other_point && text.starts_with('.')) {
        text.remove_prefix(1);
        (body.plain += '.') += take_digits(text);
    }
    if (text.size() > 1 && text.front() == ',' && is_digit(text[1])) {
        // "1,5", "1.234,5", "0,500": whatever else stands in it, the comma is no separator.
        while (!text.empty() &&
               (is_digit(text.front()) || text.front() == ',' || text.front() == '.'))
            text.remove_prefix(1);
        body.other_point = true;
    }
    if (body.plain.empty() || body.plain == ".") return std::nullopt;
    if (text.size() > 1 && (text.front() == 'e' || text.front() == 'E')) {
        std::string_view rest = text.substr(1);
        const bool sign = rest.front() == '-' || rest.front() == '+';
        std::string exponent(1, 'e');
        if (rest.front() == '-') exponent += '-';
        if (sign) rest.remove_prefix(1);
        if (const auto power = take_digits(rest); !power.empty()) {
            (body.plain += exponent) += power;
            text = rest;
        }
    }
    return body;
}

/// Whether a text may follow a number as its unit: a word without digits in front, "%", "°C",
/// "m/s", "kg/m2".
bool is_unit(std::string_view text) {
    if (text.empty()) return true;
    if (text.size() > max_unit_bytes) return false;
    const char first = text.front();
    if (first == '"' || first == '\'') return text.size() == 1;  // inches and feet
    // "0x1f" is a number of another base.
    if ((first == 'x' || first == 'X') && text.size() > 1 && is_hexadecimal(text[1])) return false;
    return is_letter(first) || first == '%' || first == '$' ||
           static_cast<unsigned char>(first) >= 0x80;
}

}  // namespace

CsvValue parse_written_number(std::string_view text) {
    const CsvValue word{CsvContent::word};
    if (std::none_of(text.begin(), text.end(), is_digit)) return word;
    skip_blanks(text);
    text = without_last_blanks(text);
    CsvValue value{.content = CsvContent::number, .plain = false};
    const bool negative = text.size() > 2 && text.front() == '(' && text.back() == ')';
    if (negative) text = text.substr(1, text.size() - 2);
    bool other_minus = false;
    bool minus = take_sign(text, other_minus);
    const std::string_view currency = take_currency(text);
    if (!currency.empty()) {
        skip_blanks(text);
        if (!minus) minus = take_sign(text, other_minus);
    }
    if (text.empty() || !(is_digit(text.front()) || text.front() == '.')) return word;
    const auto body = take_body(text);
    if (!body || (negative && minus)) return word;
    skip_blanks(text);
    text = without_last_blanks(text);
    if (!is_unit(text)) return word;
    if (body->other_point) return {CsvContent::decimal_comma};

    value.unit = currency;
    if (!text.empty()) (value.unit += currency.empty() ? "" : " ") += text;
    value.commas = body->commas;
    value.ambiguous = body->ambiguous;
    value.marks = body->marks || other_minus || negative;
    const std::string& digits = body->plain;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value.number);
    const bool large = status == std::errc::result_out_of_range ||
                       value.number > static_cast<double>(std::numeric_limits<float>::max());
    if (large) return {CsvContent::out_of_range};
    value.beyond_double = is_whole_beyond_double(digits);
    if (minus || negative) value.number = -value.number;
    return value;
}

bool is_whole_beyond_double(std::string_view digits) {
    if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
    constexpr std::string_view largest = "9007199254740992";  // 2^53
    if (digits.size() < largest.size()) return false;
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return false;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits.size() > largest.size() || (digits.size() == largest.size() && digits > largest);
}

}  // namespace engine
