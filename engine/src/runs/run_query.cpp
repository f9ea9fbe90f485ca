#include "engine/runs/run_query.h"

#include <algorithm>
#include <array>
#include <compare>

#include "base/text_utf8.h"
#include "engine/base/error.h"
#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

using Kind = RunField::Kind;

constexpr std::size_t max_candidates = 6;  ///< named in a sentence

[[noreturn]] void refuse(Message message, Message hint = {}) {
    throw Error(ErrorCode::settings, std::move(message), std::move(hint));
}

/// ASCII letters alone: they are what names of settings and figures are made of.
std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

bool contains(const std::string& text, const std::string& lowered) {
    return lower(text).find(lowered) != std::string::npos;
}

/// A term as it is written. Text in quotes is not searched for operators.
struct Word {
    std::string text;
    std::vector<bool> quoted;  ///< of each character
    bool negated = false;
    bool has_quotes = false;
};

class Words {
public:
    explicit Words(std::string_view text) : rest_(text) {}

    std::optional<Word> next() {
        while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
        if (rest_.empty()) return std::nullopt;
        Word word;
        if (rest_.front() == '-') {
            word.negated = true;
            rest_.remove_prefix(1);
        }
        while (!rest_.empty() && !is_space(rest_.front())) take(word);
        if (word.text.empty() && !word.has_quotes)
            refuse(msg("-: a dash negates the term right behind it"), msg("Write -word."));
        return word;
    }

private:
    void take(Word& word) {
        if (rest_.front() != '"') return put(word, false);
        word.has_quotes = true;
        rest_.remove_prefix(1);
        while (!rest_.empty() && rest_.front() != '"') {
            if (rest_.starts_with("\\\"") || rest_.starts_with("\\\\")) rest_.remove_prefix(1);
            put(word, true);
        }
        if (rest_.empty())
            refuse(msg("{}: the closing quote is missing", shown(word.text)),
                   msg("Write \"words in quotes\"."));
        rest_.remove_prefix(1);
    }

    void put(Word& word, bool quoted) {
        word.text += rest_.front();
        word.quoted.push_back(quoted);
        rest_.remove_prefix(1);
    }

    std::string_view rest_;
};

enum class Op { equal, unequal, less, less_equal, greater, greater_equal, contains, has };

struct OpText {
    std::string_view text;
    Op op;
};
constexpr std::array op_texts = {OpText{"!=", Op::unequal},       OpText{"<=", Op::less_equal},
                                 OpText{">=", Op::greater_equal}, OpText{"=", Op::equal},
                                 OpText{"<", Op::less},           OpText{">", Op::greater},
                                 OpText{"~", Op::contains},       OpText{":", Op::has}};

struct FoundOp {
    std::size_t at;
    OpText op;
};

/// The first operator outside quotes.
std::optional<FoundOp> find_op(const Word& word) {
    for (std::size_t at = 0; at < word.text.size(); ++at) {
        if (word.quoted[at]) continue;
        for (const OpText& op : op_texts) {
            if (std::string_view(word.text).substr(at).starts_with(op.text)) return FoundOp{at, op};
        }
    }
    return std::nullopt;
}

std::optional<double> number_of(const RunValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
}

bool orders(Op op) {
    return op == Op::less || op == Op::less_equal || op == Op::greater || op == Op::greater_equal;
}

bool holds(Op op, std::partial_ordering order) {
    switch (op) {
        case Op::unequal:
            return order != 0;
        case Op::less:
            return order < 0;
        case Op::less_equal:
            return order <= 0;
        case Op::greater:
            return order > 0;
        case Op::greater_equal:
            return order >= 0;
        default:
            return order == 0;
    }
}

/// "64,32" of "[64, 32]".
std::string plain_list(const std::string& text) {
    if (!text.starts_with('[') || !text.ends_with(']')) return text;
    std::string out;
    for (const char c : text) {
        if (c != '[' && c != ']' && c != ' ' && c != '"') out += c;
    }
    return out;
}

}  // namespace

/// One term: a word to look for, or a comparison.
struct RunQuery::Term {
    bool negated = false;
    std::string value;              ///< in lower case
    std::optional<double> number;   ///< that the value is
    std::optional<RunField> field;  ///< none: a word
    Op op = Op::equal;

    bool matches(const RunSummary& run) const {
        return (field ? compares(run) : is_in(run)) != negated;
    }

private:
    bool is_in(const RunSummary& run) const {
        if (run.run == value) return true;
        for (const std::string* text : {&run.title, &run.tags, &run.notes}) {
            if (contains(*text, value)) return true;
        }
        // Names of models and presets are full of digits.
        if (number) return false;
        return contains(model_name(run), value) || contains(dataset_name(run), value) ||
               contains(run.config.precision.preset, value);
    }

    bool compares(const RunSummary& run) const {
        if (op == Op::has && field->name == "tags") return has_tag(run);
        const RunValue found = value_of(run, *field);
        if (!is_known(found)) return false;
        const std::string text = lower(to_string(found));
        if (op == Op::contains) return text.find(value) != std::string::npos;
        if (field->kind == Kind::date) return holds(op, text.substr(0, value.size()) <=> value);
        const auto own = number_of(found);
        if (own && number) return holds(op, *own <=> *number);
        if (orders(op)) return false;
        return (text == plain_list(value)) == (op != Op::unequal);
    }

    bool has_tag(const RunSummary& run) const {
        const auto tags = split_tags(run.tags);
        return std::ranges::any_of(tags, [&](const auto& tag) { return lower(tag) == value; });
    }
};

namespace {

bool is_suffix(std::string_view path, std::string_view name) {
    return path.size() > name.size() && path.ends_with(name) &&
           path[path.size() - name.size() - 1] == '.';
}

std::vector<const RunField*> candidates(std::string_view name, std::span<const RunField> fields) {
    std::vector<const RunField*> out;
    for (const RunField& field : fields) {
        const bool section = field.name == std::string(name) + ".kind" ||
                             field.name == std::string(name) + ".preset";
        if (section || is_suffix(field.name, name)) out.push_back(&field);
    }
    return out;
}

std::string names_of(const std::vector<const RunField*>& fields) {
    std::vector<std::string> names;
    for (const RunField* field : fields) {
        if (names.size() < max_candidates) names.push_back(field->name);
    }
    return join(names) + (fields.size() > names.size() ? ", ..." : "");
}

/// Refuses a value or an operator that the field cannot be compared by.
void check(const RunQuery::Term& term, const std::string& written) {
    const RunField& field = *term.field;
    if (term.value.empty())
        refuse(msg("{}: there is nothing to compare with", written),
               msg("Write a value right behind the operator, in quotes if it has spaces."));
    if (term.op == Op::contains) return;
    if (field.kind == Kind::flag &&
        (orders(term.op) || (term.value != "true" && term.value != "false")))
        refuse(msg("{}: {} is true or false", written, field.name),
               msg("Write {}=true or {}=false.", field.name, field.name));
    if (field.kind == Kind::text && orders(term.op))
        refuse(msg("{}: {} is a text, and texts have no order", written, field.name),
               msg("Use =, != or ~ (contains)."));
    const bool needs_number =
        field.kind == Kind::number || (field.kind == Kind::mixed && orders(term.op));
    if (needs_number && !term.number)
        refuse(msg("{}: {} is a number", written, field.name),
               msg("Write a number right behind the operator."));
}

void fill_comparison(RunQuery::Term& term, const Word& word, const FoundOp& found,
                     std::span<const RunField> fields) {
    const std::string name = word.text.substr(0, found.at);
    if (name.empty())
        refuse(msg("{}: a field is missing in front of the operator", shown(word.text)),
               msg("Write FIELD=VALUE, or put the word in quotes."));
    term.field = resolve_field(name, fields);
    term.op = found.op.op;
    term.value = lower(word.text.substr(found.at + found.op.text.size()));
    term.number = to_number<double>(term.value);
    if (term.field->kind == Kind::date) std::ranges::replace(term.value, ' ', 't');
    check(term, shown(word.text));
}

RunQuery::Term parse_term(const Word& word, std::span<const RunField> fields) {
    RunQuery::Term term;
    term.negated = word.negated;
    if (const auto found = find_op(word)) {
        fill_comparison(term, word, *found, fields);
    } else if (word.text == "starred" && !word.has_quotes) {
        term.field = resolve_field("starred", fields);
        term.value = "true";
    } else {
        term.value = lower(word.text);
        term.number = to_number<double>(term.value);
    }
    return term;
}

}  // namespace

RunQuery::RunQuery() = default;

RunQuery::RunQuery(std::string_view text, std::span<const RunField> fields) {
    Words words(text);
    while (const auto word = words.next())
        terms_.push_back(std::make_unique<const Term>(parse_term(*word, fields)));
}

RunQuery::RunQuery(RunQuery&&) noexcept = default;
RunQuery& RunQuery::operator=(RunQuery&&) noexcept = default;
RunQuery::~RunQuery() = default;

bool RunQuery::matches(const RunSummary& run) const {
    return std::ranges::all_of(terms_, [&](const auto& term) { return term->matches(run); });
}

const RunField& resolve_field(std::string_view written, std::span<const RunField> fields) {
    if (const RunField* field = find_run_field(fields, written)) return *field;
    const std::string lowered = lower(written);
    std::string_view name = lowered;
    if (name == "tag") name = "tags";
    if (name == "name") name = "title";
    if (const RunField* field = find_run_field(fields, name)) return *field;
    const auto found = candidates(name, fields);
    if (found.size() == 1) return *found.front();
    if (!found.empty())
        refuse(msg("{}: several settings have this name: {}", shown(std::string(name)),
                   names_of(found)),
               msg("Write more of the path."));
    std::vector<std::string> known;
    for (const RunField& field : fields) {
        known.push_back(field.name);
        known.push_back(std::string(split_path(field.name).second));
    }
    const std::string near = nearest_name(name, known);
    refuse(msg("{}: there is no such setting or result", shown(std::string(name))),
           near.empty() ? msg("Use the path of a setting (optimizer.lr) or a result (steps, "
                              "test_loss); put other words that contain operators in quotes.")
                        : msg("Did you mean {}?", near));
}

std::vector<std::string> split_tags(std::string_view tags) {
    std::vector<std::string> out;
    std::string tag;
    const auto end = [&] {
        while (!tag.empty() && is_space(tag.back())) tag.pop_back();
        if (!tag.empty()) out.push_back(std::exchange(tag, {}));
    };
    for (const char c : tags) {
        if (c == ',' || c == ';') {
            end();
        } else if (!tag.empty() || !is_space(c)) {
            tag += c;
        }
    }
    end();
    return out;
}

}  // namespace engine
