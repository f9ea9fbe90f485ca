#include "runs/filter_field.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QStandardItemModel>
#include <algorithm>
#include <map>

#include "text/run_text.h"
#include "text/setting_text.h"
#include "theme/tokens.h"

namespace ui {
namespace {

bool isOperator(QChar each) { return u"!=<>~"_s.contains(each); }

/// The title for a key, or for the end of a key that only one has; the word itself for others.
QString titleFor(const QString& word, const std::vector<FilterName>& names) {
    const FilterName* found = nullptr;
    for (const FilterName& each : names) {
        if (each.key == word) return quotedTitle(each.title);
        if (!each.key.endsWith(u'.' + word)) continue;
        if (found != nullptr) return word;
        found = &each;
    }
    return found == nullptr || word.isEmpty() ? word : quotedTitle(found->title);
}

/// A key alone, several with commas between them, or a term that begins with a whole key.
QString withTitlesFor(const QString& text, const std::vector<FilterName>& names) {
    const auto at = std::ranges::find_if(text, isOperator) - text.begin();
    const QString name = text.left(at);
    const bool isKey = std::ranges::any_of(
        names, [&name](const FilterName& each) { return each.key == name; });
    if (at < text.size()) return isKey ? titleFor(name, names) + text.mid(at) : text;
    QStringList words = text.split(u", "_s);
    for (QString& word : words) word = titleFor(word, names);
    return words.join(u", "_s);
}

}  // namespace

std::vector<FilterName> filterNames(const std::vector<engine::RunField>& fields) {
    std::map<QString, int> uses;
    for (const auto& field : fields) ++uses[fieldLabel(field).toLower()];
    std::vector<FilterName> out;
    std::map<QString, int> given;
    for (const auto& field : fields) {
        QString title = fieldLabel(field);
        if (uses[title.toLower()] > 1 && field.is_setting)
            title = sectionTitle(field.name) + u": "_s + title;
        if (given[title.toLower()]++ > 0) title = QString::fromStdString(field.name);
        out.push_back({title, QString::fromStdString(field.name)});
    }
    return out;
}

QString quotedTitle(const QString& title) {
    const bool plain = std::ranges::none_of(
        title, [](QChar each) { return each.isSpace() || each == u':' || isOperator(each); });
    return plain ? title : u'"' + title + u'"';
}

engine::Message messageWithTitles(engine::Message message, const std::vector<FilterName>& names) {
    for (std::string& arg : message.args)
        arg = withTitlesFor(QString::fromStdString(arg), names).toStdString();
    return message;
}

QString filterWithKeys(const QString& filter, const std::vector<FilterName>& names) {
    QString out;
    qsizetype at = 0;
    const auto copy = [&] { out += filter.at(at++); };
    const auto keyOf = [&](const QString& title) {
        const auto found = std::ranges::find_if(names, [&](const FilterName& each) {
            return each.title.compare(title, Qt::CaseInsensitive) == 0;
        });
        return found == names.end() ? QString() : found->key;
    };
    while (at < filter.size()) {
        while (at < filter.size() && (filter.at(at).isSpace() || filter.at(at) == u'-')) copy();
        // The name of the term, then the operator.
        qsizetype end = at;
        const bool quoted = end < filter.size() && filter.at(end) == u'"';
        QString title;
        if (quoted) {
            end = filter.indexOf(u'"', at + 1);
            title = end < 0 ? QString() : filter.mid(at + 1, end - at - 1);
            end = end < 0 ? filter.size() : end + 1;
        } else {
            while (end < filter.size() && !filter.at(end).isSpace() && !isOperator(filter.at(end)))
                ++end;
            title = filter.mid(at, end - at);
        }
        const bool named = end < filter.size() && isOperator(filter.at(end));
        if (const QString key = named ? keyOf(title) : QString(); !key.isEmpty()) {
            out += key;
            at = end;
        }
        for (bool inside = false; at < filter.size(); copy()) {
            if (filter.at(at) == u'"') inside = !inside;
            if (filter.at(at).isSpace() && !inside) break;
        }
    }
    return out;
}

namespace {

constexpr int searchRole = Qt::UserRole + 1;

}  // namespace

FilterField::FilterField(QWidget* parent)
    : QLineEdit(parent), completer_(new QCompleter(this)), names_(new QStandardItemModel(this)) {
    completer_->setModel(names_);
    completer_->setCompletionRole(searchRole);
    completer_->setWidget(this);
    completer_->setFilterMode(Qt::MatchContains);
    completer_->popup()->setObjectName(u"completions"_s);
    completer_->setCaseSensitivity(Qt::CaseInsensitive);
    connect(completer_, qOverload<const QModelIndex&>(&QCompleter::activated), this,
            [this](const QModelIndex& index) { insert(index.data().toString()); });
    connect(this, &QLineEdit::textEdited, this, &FilterField::complete);
    completer_->popup()->installEventFilter(this);
}

/// A click beside the list of completions closes it, and would go no further: it is passed on to
/// what lies there, such as a button that the list was next to.
bool FilterField::eventFilter(QObject* watched, QEvent* event) {
    auto* popup = completer_->popup();
    if (watched != popup || event->type() != QEvent::MouseButtonPress)
        return QLineEdit::eventFilter(watched, event);
    const auto* press = static_cast<QMouseEvent*>(event);
    if (popup->rect().contains(press->position().toPoint()))
        return QLineEdit::eventFilter(watched, event);
    popup->hide();
    const QPoint global = press->globalPosition().toPoint();
    QWidget* under = window()->childAt(window()->mapFromGlobal(global));
    if (under == nullptr) return true;
    for (const auto type : {QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
        QMouseEvent passed(type, under->mapFromGlobal(QPointF(global)), press->globalPosition(),
                           press->button(),
                           type == QEvent::MouseButtonPress ? press->buttons() : Qt::NoButton,
                           press->modifiers());
        QCoreApplication::sendEvent(under, &passed);
    }
    return true;
}

void FilterField::setNames(const std::vector<FilterName>& names) {
    const auto search = [](const FilterName& name) { return name.title + u' ' + name.key; };
    bool same = names_->rowCount() == static_cast<int>(names.size());
    for (int row = 0; same && row < names_->rowCount(); ++row)
        same = names_->item(row)->data(searchRole).toString() ==
               search(names[static_cast<std::size_t>(row)]);
    if (same) return;
    names_->clear();
    for (const FilterName& name : names) {
        auto* item = new QStandardItem(name.title);
        item->setData(search(name), searchRole);
        names_->appendRow(item);
    }
}

int FilterField::termStart() const {
    const QString before = text().left(cursorPosition());
    bool quoted = false;
    int start = 0;
    for (int i = 0; i < before.size(); ++i) {
        if (before.at(i) == u'"') quoted = !quoted;
        if (before.at(i).isSpace() && !quoted) start = i + 1;
    }
    return start < before.size() && before.at(start) == u'-' ? start + 1 : start;
}

void FilterField::complete() {
    const int start = termStart();
    const QString word = text().mid(start, cursorPosition() - start);
    const bool named = word.contains(u'=') || word.contains(u'<') || word.contains(u'>') ||
                       word.contains(u'~') || word.contains(u':') || word.contains(u'"');
    completer_->setCompletionPrefix(word);
    const QString only = completer_->currentIndex().data().toString();
    const bool whole = completer_->completionCount() == 1 &&
                       only.compare(word, Qt::CaseInsensitive) == 0;
    if (word.isEmpty() || named || whole || completer_->completionCount() == 0) {
        completer_->popup()->hide();
        return;
    }
    QRect place = cursorRect().translated(0, size::grid);
    place.setWidth(completer_->popup()->sizeHintForColumn(0) + 32);
    completer_->complete(place);
}

void FilterField::insert(const QString& title) {
    const int start = termStart();
    setSelection(start, cursorPosition() - start);
    QLineEdit::insert(title.endsWith(u':') ? title : quotedTitle(title));
}

void FilterField::keyPressEvent(QKeyEvent* event) {
    const bool popup = completer_->popup()->isVisible();
    if (popup && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
                  event->key() == Qt::Key_Escape || event->key() == Qt::Key_Tab)) {
        event->ignore();  // the completer's
        return;
    }
    const bool leaves = event->key() == Qt::Key_Down || event->key() == Qt::Key_Return ||
                        event->key() == Qt::Key_Enter;
    if (leaves) {
        emit left();
    } else if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
        clear();
    } else {
        QLineEdit::keyPressEvent(event);
    }
}

}  // namespace ui
