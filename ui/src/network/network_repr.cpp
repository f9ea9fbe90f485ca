#include "network/network_repr.h"

#include <QMap>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/network/network.h"
#include "text/format.h"

namespace ui {
namespace {

using Arguments = std::vector<std::pair<QString, QString>>;  // name and value; by place: no name

/// Splits at commas outside brackets and strings.
QStringList splitArguments(const QString& inside) {
    QStringList parts(QString{});
    int depth = 0;
    bool quoted = false;
    for (const QChar each : inside) {
        if (each == u'\'') quoted = !quoted;
        if (each == u'(' || each == u'[') ++depth;
        if (each == u')' || each == u']') --depth;
        if (each == u',' && depth == 0 && !quoted)
            parts << QString();
        else
            parts.back() += each;
    }
    if (parts.back().trimmed().isEmpty()) parts.removeLast();
    return parts;
}

/// A value of Python in the notation: (2, 2) is 2, 'same' is same, True is true.
QString valueFrom(QString value) {
    value = value.trimmed();
    if (value == u"True"_s) return u"true"_s;
    if (value == u"False"_s) return u"false"_s;
    if (value.startsWith(u'\'') && value.endsWith(u'\'')) return value.mid(1).chopped(1);
    if (value.startsWith(u'(') && value.endsWith(u')')) {
        QStringList parts;
        for (const QString& part : splitArguments(value.mid(1).chopped(1))) parts << valueFrom(part);
        const bool same = !parts.isEmpty() && std::ranges::all_of(parts, [&parts](const QString& each) { return each == parts.front(); });
        return same ? parts.front() : u'[' + parts.join(u", "_s) + u']';
    }
    return value.endsWith(u".0"_s) ? value.chopped(2) : value;
}

/// Names of the arguments that PyTorch prints by place.
QStringList placesOf(const QString& kind) {
    if (kind.startsWith(u"Conv"_s)) return {u"in_channels"_s, u"out_channels"_s};
    if (kind == u"GroupNorm"_s) return {u"num_groups"_s, u"num_channels"_s};
    if (kind == u"Embedding"_s || kind == u"EmbeddingBag"_s) return {u"num_embeddings"_s, u"embedding_dim"_s};
    if (kind == u"LSTM"_s || kind == u"GRU"_s || kind == u"RNN"_s) return {u"input_size"_s, u"hidden_size"_s};
    if (kind == u"LayerNorm"_s || kind == u"RMSNorm"_s) return {u"normalized_shape"_s};
    if (kind.contains(u"Norm"_s)) return {u"num_features"_s};
    return {};
}

/// Follows from the input, or says what is so here anyway.
bool isImplied(const QString& name, const QString& value) {
    static const QStringList sizes{u"in_channels"_s, u"in_features"_s, u"num_features"_s, u"num_channels"_s, u"normalized_shape"_s,
                                   u"num_embeddings"_s, u"input_size"_s, u"inplace"_s};
    static const QStringList usual{u"affine"_s, u"elementwise_affine"_s, u"track_running_stats"_s, u"batch_first"_s, u"bias"_s};
    return sizes.contains(name) || value == u"None"_s || (usual.contains(name) && value == u"true"_s);
}

/// Arguments of a kind in the notation: those by place, and the defaults of the others.
struct LayerForm {
    QStringList places;
    QMap<QString, QString> defaults;
};

const QMap<QString, LayerForm>& forms() {
    static const QMap<QString, LayerForm> all = [] {
        QMap<QString, LayerForm> out;
        for (const auto& info : engine::network_layer_kinds()) {
            const QString form = QString::fromStdString(info.form);
            const QString inside = form.section(u'(', 1).chopped(form.contains(u'(') ? 1 : 0);
            LayerForm own;
            for (const QString& name : inside.section(u';', 0, 0).split(u',', Qt::SkipEmptyParts))
                own.places << name.trimmed().remove(u'[').remove(u']');
            for (const QString& part : inside.section(u';', 1).split(u',', Qt::SkipEmptyParts))
                own.defaults[part.section(u'=', 0, 0).trimmed()] = part.section(u'=', 1).trimmed();
            out[QString::fromStdString(info.name)] = own;
        }
        return out;
    }();
    return all;
}

QString layerFrom(const QString& kind, const QString& inside) {
    const auto known = forms().find(kind);
    const LayerForm form = known == forms().end() ? LayerForm() : *known;
    const QStringList places = placesOf(kind);
    Arguments given;
    int place = 0;
    for (const QString& part : splitArguments(inside)) {
        static const QRegularExpression named(uR"(^\s*(\w+)\s*=(.*)$)"_s);
        const auto match = named.match(part);
        if (match.hasMatch())
            given.emplace_back(match.captured(1), valueFrom(match.captured(2)));
        else
            given.emplace_back(places.value(place++), valueFrom(part));
    }
    QStringList first, others;
    for (const QString& name : form.places) {
        const auto at = std::ranges::find(given, name, &Arguments::value_type::first);
        if (at == given.end()) break;
        first << at->second;
    }
    for (const auto& [name, value] : given) {
        if (form.places.contains(name) || isImplied(name, value) || form.defaults.value(name) == value) continue;
        others << (name.isEmpty() ? value : name + u'=' + value);
    }
    const QString all = (first + others).join(u", "_s);
    return all.isEmpty() ? kind : kind + u'(' + all + u')';
}

const QRegularExpression& moduleLine() {
    static const QRegularExpression line(uR"(^(\s*)\(([^()]+)\): (?:(\d+) x )?(\w+)\((.*)$)"_s);
    return line;
}

}  // namespace

bool isModuleRepr(const QString& text) {
    const QStringList lines = text.split(u'\n');
    return std::ranges::any_of(lines, [](const QString& line) { return moduleLine().match(line).hasMatch(); });
}

QString fromModuleRepr(const QString& text, int indent) {
    constexpr int step = 2;
    struct Body {
        int depth;      ///< spaces of its lines in the notation
        int from;       ///< spaces of its lines in the print
        int modules = 0;
    };
    QStringList out;
    std::vector<Body> bodies{{indent, -1}};
    int skipped = -1;  // spaces of a known kind whose own modules are left out
    for (const QString& line : text.split(u'\n')) {
        const auto match = moduleLine().match(line);
        if (!match.hasMatch()) {
            static const QRegularExpression root(uR"(^\w+\($)"_s);
            if (!out.isEmpty() || indent > 0 || !root.match(line.trimmed()).hasMatch()) continue;
            out << u"network(image):"_s;
            bodies.back().depth = step;
            continue;
        }
        const int spaces = static_cast<int>(match.captured(1).size());
        if (skipped >= 0 && spaces > skipped) continue;
        skipped = -1;
        if (bodies.back().from < 0) bodies.back().from = spaces;
        while (bodies.size() > 1 && spaces < bodies.back().from) bodies.pop_back();
        Body& body = bodies.back();
        const QString name = match.captured(2), kind = match.captured(4);
        QString rest = match.captured(5);
        const bool opens = rest.isEmpty();
        if (rest.endsWith(u')')) rest.chop(1);
        QString head(body.depth, u' ');
        const int times = match.captured(3).toInt();
        if (times > 0) {
            out << head + u"repeat %1:"_s.arg(times);
            head += QString(step, u' ');
        } else if (name != QString::number(body.modules) || (opens && !forms().contains(kind))) {
            static const QRegularExpression plain(uR"(^\w+$)"_s);
            head += (plain.match(name).hasMatch() ? name : u'"' + name + u'"') + u": "_s;
        }
        body.modules += std::max(times, 1);
        if (!opens || forms().contains(kind)) {
            out << head + layerFrom(kind, rest);
            if (opens) skipped = spaces;
            continue;
        }
        if (times == 0) out << head.chopped(1);
        bodies.push_back({body.depth + step, spaces + step});
    }
    return out.join(u'\n');
}

}  // namespace ui
