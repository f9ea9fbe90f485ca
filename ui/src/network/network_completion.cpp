#include "network/network_completion.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>

#include "engine/network/network.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

using Line = NetworkLine;

struct NetworkCompletionText {
    Q_DECLARE_TR_FUNCTIONS(NetworkCompletion)
};

bool isWordChar(QChar each) { return each.isLetterOrNumber() || each == u'_' || each == u'.'; }

const std::vector<engine::LayerKindInfo>& kindInfos() {
    static const auto infos = engine::network_layer_kinds();
    return infos;
}

const engine::LayerKindInfo* findInfo(const QString& name) {
    const auto found = std::ranges::find(kindInfos(), name.toStdString(), &engine::LayerKindInfo::name);
    return found == kindInfos().end() ? nullptr : &*found;
}

/// Its help, and the words that it takes.
QString argumentHelp(const QString& kind, const QString& argument) {
    const auto* info = findInfo(kind);
    if (info == nullptr) return {};
    const auto found = std::ranges::find(info->arguments, argument.toStdString(), &engine::LayerArgumentInfo::name);
    if (found == info->arguments.end()) return {};
    const QString words = stringList(found->words).join(u", "_s);
    return words.isEmpty() ? engineText(found->help) : engineText(found->help) + u' ' + words;
}

/// The call whose brackets are open at the end of the code, and what stands in them so far.
struct OpenCall {
    QString name, inside;
};

OpenCall openCallOf(const QString& code) {
    int depth = 0;
    for (qsizetype at = code.size() - 1; at >= 0; --at) {
        const QChar each = code.at(at);
        if (each == u')' || each == u']') ++depth;
        if ((each == u'(' || each == u'[') && depth-- == 0) {
            if (each == u'[') return {};
            qsizetype from = at;
            while (from > 0 && isWordChar(code.at(from - 1))) --from;
            return {code.mid(from, at - from), code.mid(at + 1)};
        }
    }
    return {};
}

class Completer {
public:
    Completer(const QString& text, const std::vector<Line>& lines, const std::vector<engine::OptionSpec>& options, int line, int column)
        : texts_(text.split(u'\n')), lines_(lines), options_(options), line_(line) {
        if (line < 0 || line >= texts_.size()) return;
        before_ = texts_.at(line).left(column);
        const bool commented = withoutComment(before_).size() != before_.size();
        if (commented || before_.count(u'"') % 2 != 0) return;
        qsizetype from = before_.size();
        while (from > 0 && isWordChar(before_.at(from - 1))) --from;
        out_.from = static_cast<int>(from);
        typed_ = before_.mid(from);
        before_.truncate(from);
        fill();
    }

    NetworkWords take() {
        std::erase_if(out_.words, [this](const NetworkWord& word) {
            return !word.insert.startsWith(typed_, Qt::CaseInsensitive) || word.insert == typed_;
        });
        return std::move(out_);
    }

private:
    void add(const QString& word, const QString& note = {}) {
        if (!known_.contains(word)) out_.words.push_back({word, word, note});
        known_.insert(word);
    }

    void fill() {
        if (const OpenCall call = openCallOf(before_); !call.name.isEmpty()) {
            addArguments(call);
            addNames();
            return;
        }
        const QString code = before_.trimmed();
        static const QRegularExpression behindFrom(uR"(\bfrom(\s+[\w.{}]+\s*,)*$)"_s);
        static const QRegularExpression atStart(uR"(^\s*([\w.{}+ ]+:|"[^"]*":|\w+\s*=)?\s*$)"_s);
        if (behindFrom.match(code).hasMatch()) {
            addValues();
        } else if (atStart.match(before_).hasMatch()) {
            if (before_.isEmpty()) addHeads();
            addLayers();
            addValues();
        } else {
            for (const QString& word : {u"from"_s, u"if"_s, u"else"_s, u"and"_s, u"or"_s, u"not"_s}) add(word);
            addNames();
        }
    }

    void addHeads() {
        for (const QString& word : {u"option"_s, u"init"_s, u"block"_s, u"network"_s}) add(word);
    }

    void addLayers() {
        for (const Line& line : lines_)
            if (line.kind == Line::Kind::block) add(line.callee, NetworkCompletionText::tr("block"));
        for (const auto& kind : kindInfos()) add(QString::fromStdString(kind.name), engineText(kind.help));
        for (const QString& word : {u"repeat"_s, u"let"_s, u"output"_s, u"from"_s}) add(word);
    }

    void addArguments(const OpenCall& call) {
        QString form;
        if (const auto* info = findInfo(call.name)) {
            form = QString::fromStdString(info->form);
        } else {
            const auto block = std::ranges::find_if(lines_, [&call](const Line& line) { return line.kind == Line::Kind::block && line.callee == call.name; });
            if (block == lines_.end()) return;
            form = texts_.value(block - lines_.begin()).trimmed().mid(6);
            form = form.left(form.lastIndexOf(u')') + 1);
        }
        out_.title = form;
        const QString inside = form.mid(form.indexOf(u'(') + 1).chopped(form.endsWith(u')') ? 1 : 0);
        if (!form.contains(u'(')) return;
        int place = 0, given = givenByPlace(call.inside);
        if (form.contains(u';')) given = std::min(given, static_cast<int>(form.left(form.indexOf(u';')).count(u',')) + 1);
        for (QString part : inside.split(QRegularExpression(u"[;,]"_s))) {
            if (place++ < given) continue;
            part = part.trimmed().remove(u'[').remove(u']');
            const QString name = part.section(u'=', 0, 0).trimmed();
            if (name.isEmpty() || name.endsWith(u"..."_s) || isGiven(call.inside, name)) continue;
            const QString value = part.section(u'=', 1).trimmed();
            QStringList note;
            if (!value.isEmpty()) note << NetworkCompletionText::tr("default %1").arg(value);
            if (const QString help = argumentHelp(call.name, name); !help.isEmpty()) note << help;
            add(name + u'=', note.join(u" · "_s));
        }
    }

    /// Arguments that end before the cursor and have no name.
    static int givenByPlace(const QString& inside) {
        int depth = 0, count = 0;
        bool named = false;
        for (const QChar each : inside) {
            if (each == u'(' || each == u'[') ++depth;
            if (each == u')' || each == u']') --depth;
            if (depth > 0) continue;
            if (each == u'=') named = true;
            if (each != u',') continue;
            if (!named) ++count;
            named = false;
        }
        return count;
    }

    static bool isGiven(const QString& inside, const QString& name) {
        return QRegularExpression(u"\\b%1\\s*="_s.arg(QRegularExpression::escape(name))).match(inside).hasMatch();
    }

    /// Options, parameters of the block, numbers of repeats and lets.
    void addNames() {
        for (const auto& option : options_) add(QString::fromStdString(option.name), NetworkCompletionText::tr("option"));
        add(u"outputs"_s);
        static const QRegularExpression let(uR"(^\s*let\s+(\w+))"_s), index(uR"(\bas\s+(\w+)\s*:)"_s), each(uR"(\brepeat\s+(\w+)\s+in\b)"_s);
        static const QRegularExpression parameters(uR"(^block\s+\w+\s*\(([^)]*)\))"_s);
        for (int at = head(); at >= 0; at = lines_[static_cast<std::size_t>(at)].head) {
            const QString text = texts_.value(at);
            for (const auto& name : {index.match(text), each.match(text)})
                if (name.hasMatch()) add(name.captured(1));
            for (const QString& part : parameters.match(text).captured(1).split(u',', Qt::SkipEmptyParts))
                add(part.section(u'=', 0, 0).trimmed(), NetworkCompletionText::tr("of the block"));
        }
        visitAbove([&](int at) {
            if (const auto name = let.match(texts_.value(at)); name.hasMatch()) add(name.captured(1));
        });
        for (const QString& size : {u"in.channels"_s, u"in.height"_s, u"in.width"_s, u"in.length"_s}) add(size);
    }

    void addValues() {
        add(u"in"_s, NetworkCompletionText::tr("what comes into this body"));
        add(u"above"_s, NetworkCompletionText::tr("the line above"));
        visitAbove([this](int at) {
            const Line& line = lines_[static_cast<std::size_t>(at)];
            if (!line.label.isEmpty()) add(line.label, line.callee);
        });
        static const QRegularExpression inputs(uR"(^network\s*\(([^)]*)\)|^block\s+\w+\s*\([^)]*\)\s*of\s+([^:]*):)"_s);
        for (int at = head(); at >= 0; at = lines_[static_cast<std::size_t>(at)].head) {
            const auto match = inputs.match(texts_.value(at));
            for (const QString& name : (match.captured(1) + u',' + match.captured(2)).split(QRegularExpression(u",| or "_s), Qt::SkipEmptyParts))
                add(name.trimmed(), NetworkCompletionText::tr("input"));
        }
    }

    int head() const { return static_cast<std::size_t>(line_) < lines_.size() ? headOf(line_) : -1; }

    /// An empty line has no head of its own: it is that of its indentation.
    int headOf(int at) const {
        const Line& line = lines_[static_cast<std::size_t>(at)];
        if (line.kind != Line::Kind::none) return line.head;
        qsizetype indent = 0;
        const QString text = texts_.value(at);
        while (indent < text.size() && text.at(indent) == u' ') ++indent;
        for (int above = at - 1; above >= 0; --above) {
            const Line& other = lines_[static_cast<std::size_t>(above)];
            if (other.kind != Line::Kind::none && other.indent < indent) return above;
        }
        return -1;
    }

    /// Lines above in this body and in those around it.
    template <typename Visit>
    void visitAbove(Visit visit) {
        int around = head();
        for (int at = line_ - 1; at >= 0; --at) {
            const Line& line = lines_[static_cast<std::size_t>(at)];
            if (at == around) around = line.head;
            if (line.kind != Line::Kind::none && line.head == around && around >= 0) visit(at);
        }
    }

    QStringList texts_;
    const std::vector<Line>& lines_;
    const std::vector<engine::OptionSpec>& options_;
    int line_;
    QString before_, typed_;
    QSet<QString> known_;
    NetworkWords out_;
};

}  // namespace

NetworkWords networkWords(const QString& text, const std::vector<NetworkLine>& lines, const std::vector<engine::OptionSpec>& options, int line, int column) {
    return Completer(text, lines, options, line, column).take();
}

}  // namespace ui
