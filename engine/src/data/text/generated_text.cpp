#include "data/text/generated_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "tensor/philox.h"

namespace engine {
namespace {

struct Forms {
    std::string_view singular;
    std::string_view plural;
};

constexpr std::array<Forms, 12> animals{{{"fox", "foxes"},
                                         {"owl", "owls"},
                                         {"bear", "bears"},
                                         {"hen", "hens"},
                                         {"goat", "goats"},
                                         {"duck", "ducks"},
                                         {"zebra", "zebras"},
                                         {"mouse", "mice"},
                                         {"cat", "cats"},
                                         {"king", "kings"},
                                         {"baker", "bakers"},
                                         {"eagle", "eagles"}}};
constexpr std::array<Forms, 10> things{{{"key", "keys"},
                                        {"coin", "coins"},
                                        {"ring", "rings"},
                                        {"jug", "jugs"},
                                        {"box", "boxes"},
                                        {"apple", "apples"},
                                        {"lamp", "lamps"},
                                        {"quilt", "quilts"},
                                        {"vase", "vases"},
                                        {"hat", "hats"}}};
constexpr std::array<Forms, 8> verbs{{{"sees", "see"},
                                      {"finds", "find"},
                                      {"wants", "want"},
                                      {"hides", "hide"},
                                      {"likes", "like"},
                                      {"takes", "take"},
                                      {"has", "have"},
                                      {"brings", "bring"}}};
constexpr std::array<std::string_view, 10> adjectives{
    "old", "quick", "small", "brown", "lazy", "warm", "quiet", "kind", "empty", "very nice"};
constexpr std::array<std::string_view, 6> places{"in the garden", "near the river", "by the door",
                                                 "on the hill",   "at night",       "every day"};
constexpr std::array<std::string_view, 4> containers{"box", "jug", "vase", "hat"};
constexpr std::array<std::string_view, 3> brackets{"()", "[]", "{}"};
constexpr std::array<std::string_view, 4> calls{"stop", "look", "come here", "wait"};

constexpr std::array<std::string_view, 20> small_numbers{
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 8> tens{"twenty", "thirty",  "forty",  "fifty",
                                               "sixty",  "seventy", "eighty", "ninety"};

/// Not operator+ on temporaries: GCC 12 warns of an overlap in its insertion at -O3, wrongly.
std::string joined(std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
}

/// Writes sentences without their full stops.
class Writer {
public:
    Writer(std::int64_t seed, std::uint32_t part) : random_(seed, StreamId::generated_text, part) {}

    std::string paragraph() {
        std::string out;
        for (std::uint32_t left = 4 + draw(4); left > 0; --left) {
            out += sentence();
            out += left > 1 ? ". " : ".\n";
        }
        return out;
    }

private:
    std::string sentence() {
        switch (draw(8)) {
            case 0:
            case 1:
                return calculation();
            case 2:
                return contents();
            case 3:
                return quotation();
            case 4:
                return call();
            default:
                return statement();
        }
    }

    // The parts of a list are evaluated in their order, and so are their draws.

    /// "the old bear wants three keys by the door"
    std::string statement() {
        std::string out = clause();
        if (draw(2) == 1) out.append(" ").append(pick(places));
        return out;
    }

    /// "the quick foxes see an apple"
    std::string clause() {
        const bool plural = draw(2) == 1;
        const Forms& verb = pick(verbs);
        return joined({"the ", described(pick(animals), plural), " ",
                       plural ? verb.plural : verb.singular, " ", thing()});
    }

    /// "twenty-one less four is seventeen"
    std::string calculation() {
        const std::int64_t a = draw(21);
        const std::int64_t b = draw(21);
        if (draw(2) == 0) return joined({written(a), " and ", written(b), " is ", written(a + b)});
        return joined({written(a + b), " less ", written(b), " is ", written(a)});
    }

    /// "the box holds (a key [two rings])"
    std::string contents() { return joined({"the ", pick(containers), " holds ", bracket(1)}); }

    std::string bracket(int depth) {
        constexpr int deepest = 4;
        const std::string_view pair = pick(brackets);
        std::string out = joined({pair.substr(0, 1), thing()});
        while (depth < deepest && draw(5) < 2) out.append(" ").append(bracket(depth + 1));
        return out.append(pair.substr(1));
    }

    /// "where is the old hat?" asks the owl
    std::string quotation() {
        const std::string who = described(pick(animals), false);
        if (draw(2) == 0) return joined({"\"", clause(), ",\" says the ", who});
        return joined({"\"where is the ", described(pick(things), false), "?\" asks the ", who});
    }

    std::string call() {
        return joined({"\"", pick(calls), "!\" shouts the ", described(pick(animals), false)});
    }

    /// "a key", "an old hat", "three small coins"
    std::string thing() {
        if (draw(3) == 0) {
            const std::int64_t count = 2 + draw(19);
            return joined({written(count), " ", described(pick(things), true)});
        }
        const std::string what = described(pick(things), false);
        const bool vowel = std::string_view("aeiou").find(what[0]) != std::string_view::npos;
        return joined({vowel ? "an " : "a ", what});
    }

    std::string described(const Forms& noun, bool plural) {
        std::string out;
        if (draw(3) == 0) out.append(pick(adjectives)).append(" ");
        return out.append(plural ? noun.plural : noun.singular);
    }

    static std::string written(std::int64_t number) { return number_in_words(number); }

    template <typename T, std::size_t size>
    const T& pick(const std::array<T, size>& from) {
        return from[draw(size)];
    }
    std::uint32_t draw(std::uint32_t bound) { return random_.bounded(drawn_++, bound); }

    RandomStream random_;
    std::uint64_t drawn_ = 0;
};

}  // namespace

std::string number_in_words(std::int64_t number) {
    const auto at = static_cast<std::size_t>(number);
    if (at < small_numbers.size()) return std::string(small_numbers[at]);
    std::string out(tens[at / 10 - 2]);
    if (at % 10 != 0) out.append("-").append(small_numbers[at % 10]);
    return out;
}

std::string generated_text(std::int64_t seed, std::int64_t characters, std::uint32_t part) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(characters, 0));
    Writer writer(seed, part);
    std::string out;
    while (out.size() < size) out += writer.paragraph();
    out.resize(size);
    return out;
}

}  // namespace engine
