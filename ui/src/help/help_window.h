#pragma once

#include <QListWidget>
#include <QTextBrowser>
#include <vector>

#include "help/help_topics.h"

class QLineEdit;

namespace ui {

class Theme;

/// The help: a list of pages that a search narrows, and the page. A window of its own beside the
/// main one; Esc closes it.
class HelpWindow final : public QWidget {
    Q_OBJECT
public:
    /// `language`: of the handbook, "en" or "zh".
    HelpWindow(const Theme* theme, const SettingsModel& settings, const QString& language,
               QWidget* parent);

    /// Shows the page with this id, or the first one if there is none.
    void open(const QString& id);
    /// The id of the page on show.
    QString topic() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fill();
    void narrow(const QString& words);
    void turnTo(const QListWidgetItem* item);
    void showTopic(const HelpTopic& topic);
    void follow(const QUrl& link);
    void select(const QString& id);

    const Theme* theme_;
    std::vector<HelpTopic> topics_;
    QLineEdit* search_;
    QListWidget* list_;
    QTextBrowser* page_;
};

}  // namespace ui
