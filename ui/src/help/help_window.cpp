#include "help/help_window.h"

#include <QDesktopServices>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPointer>
#include <QScreen>
#include <QScrollBar>
#include <QTextDocumentFragment>
#include <QUrl>

#include "help/markdown_page.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int listWidth = 280;
constexpr QSize usualSize(980, 700);  // a page of it is as wide as wide tables are laid out for

constexpr int topicRole = Qt::UserRole;      // index into the topics; -1: a group's name
constexpr int wordsRole = Qt::UserRole + 1;  // what the search looks through

}  // namespace

HelpWindow::HelpWindow(const Theme* theme, const SettingsModel& settings, const QString& language,
                       QWidget* parent)
    : QWidget(parent, Qt::Window), theme_(theme), topics_(helpTopics(settings, language)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setAttribute(Qt::WA_StyledBackground);
    setObjectName(u"helpWindow"_s);
    setWindowTitle(tr("Help"));
    search_ = new QLineEdit(this);
    search_->setPlaceholderText(tr("Search the help"));
    search_->setAccessibleName(search_->placeholderText());
    search_->setClearButtonEnabled(true);
    search_->installEventFilter(this);
    list_ = new QListWidget(this);
    list_->setAccessibleName(tr("Pages"));
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    page_ = new QTextBrowser(this);
    page_->setOpenLinks(false);
    connect(page_, &QTextBrowser::anchorClicked, this, &HelpWindow::follow);
    page_->setFrameShape(QFrame::NoFrame);
    page_->setAccessibleName(tr("Page"));
    auto* left = makeColumn(size::gap);
    left->addWidget(search_);
    left->addWidget(list_, 1);
    auto* row =
        makeRow(this, {size::inside, size::inside, size::inside, size::inside}, size::inside);
    list_->setFixedWidth(listWidth);
    row->addLayout(left);
    row->addWidget(page_, 1);
    fill();
    connect(search_, &QLineEdit::textChanged, this, &HelpWindow::narrow);
    connect(list_, &QListWidget::currentItemChanged, this, &HelpWindow::turnTo);
    connect(theme_, &Theme::changed, this, [this] { turnTo(list_->currentItem()); });
    resize(usualSize.boundedTo(screen()->availableSize()));
}

void HelpWindow::fill() {
    QString group;
    for (std::size_t i = 0; i < topics_.size(); ++i) {
        const HelpTopic& topic = topics_[i];
        if (topic.group != group) {
            group = topic.group;
            auto* head = new QListWidgetItem(group, list_);
            head->setFlags(Qt::NoItemFlags);
            head->setFont(Theme::bold());
            head->setData(topicRole, -1);
        }
        auto* item = new QListWidgetItem(topic.title, list_);
        item->setData(topicRole, static_cast<int>(i));
        item->setData(wordsRole,
                      QString(topic.title + u' ' + topic.id + u' ' + topic.markdown +
                              QTextDocumentFragment::fromHtml(topic.html).toPlainText()));
    }
}

void HelpWindow::narrow(const QString& words) {
    const QStringList wanted = words.split(u' ', Qt::SkipEmptyParts);
    QListWidgetItem* head = nullptr;
    QListWidgetItem* first = nullptr;
    for (int row = 0; row < list_->count(); ++row) {
        auto* item = list_->item(row);
        if (item->data(topicRole).toInt() < 0) {
            head = item;
            head->setHidden(true);
            continue;
        }
        const QString text = item->data(wordsRole).toString();
        const bool found = std::all_of(wanted.begin(), wanted.end(), [&](const QString& word) {
            return text.contains(word, Qt::CaseInsensitive);
        });
        item->setHidden(!found);
        if (!found) continue;
        if (head != nullptr) head->setHidden(false);
        if (first == nullptr) first = item;
    }
    const auto* current = list_->currentItem();
    if (first != nullptr && (current == nullptr || current->isHidden()))
        list_->setCurrentItem(first);
    if (first == nullptr) page_->setHtml(u"<p>%1</p>"_s.arg(tr("No page contains these words.")));
}

void HelpWindow::turnTo(const QListWidgetItem* item) {
    const int index = item == nullptr ? -1 : item->data(topicRole).toInt();
    if (index < 0) return;
    showTopic(topics_[static_cast<std::size_t>(index)]);
    page_->moveCursor(QTextCursor::Start);  // which is kept in view when the window is shown
    page_->verticalScrollBar()->setValue(0);
}

void HelpWindow::showTopic(const HelpTopic& topic) {
    if (topic.markdown.isEmpty()) {
        page_->setHtml(topic.html);
        return;
    }
    // A document that is on screen would be laid out many times while it is filled.
    auto* document = new QTextDocument(page_);
    document->setUndoRedoEnabled(false);
    document->setDefaultFont(page_->font());
    const Tokens& t = theme_->tokens();
    showMarkdown(*document, topic.markdown, {.rule = t.line, .code = t.field});
    // Pages refer to sources too, which the program does not contain.
    dropLinks(*document, [&topic](const QUrl& link) {
        return !link.isRelative() || !handbookTarget(topic.id, link).isEmpty();
    });
    const QPointer<QTextDocument> before = page_->document();
    page_->setDocument(document);
    delete before;  // unless the browser owned it
}

void HelpWindow::follow(const QUrl& link) {
    const QString here = topic();
    const QString page = handbookTarget(here, link);
    if (page.isEmpty()) {
        if (!link.isRelative()) QDesktopServices::openUrl(link);
        return;
    }
    if (page != here) select(page);
    if (link.hasFragment()) page_->scrollToAnchor(link.fragment(QUrl::FullyDecoded));
}

QString HelpWindow::topic() const {
    const auto* item = list_->currentItem();
    const int index = item == nullptr ? -1 : item->data(topicRole).toInt();
    return index >= 0 ? topics_[static_cast<std::size_t>(index)].id : QString();
}

void HelpWindow::select(const QString& id) {
    int wanted = 0;
    for (std::size_t i = 0; i < topics_.size(); ++i) {
        if (topics_[i].id == id) wanted = static_cast<int>(i);
    }
    for (int row = 0; row < list_->count(); ++row) {
        if (list_->item(row)->data(topicRole).toInt() != wanted) continue;
        if (list_->item(row)->isHidden()) search_->clear();
        list_->setCurrentRow(row);
    }
}

void HelpWindow::open(const QString& id) {
    search_->clear();
    select(id);
    show();
    list_->doItemsLayout();  // with the heights that the style gives, known from now on
    list_->scrollToItem(list_->currentItem(), QAbstractItemView::PositionAtCenter);
    raise();
    activateWindow();
    search_->setFocus();
}

bool HelpWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            list_->setFocus();
            QCoreApplication::sendEvent(list_, event);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void HelpWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) {
        close();
    } else {
        QWidget::keyPressEvent(event);
    }
}

}  // namespace ui
