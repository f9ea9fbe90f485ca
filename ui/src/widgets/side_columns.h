#pragma once

#include <QBoxLayout>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QWidget>
#include <map>
#include <vector>

namespace ui {

/// A main panel with others beside and below it. In a window narrower than Theme::foldWidth() the
/// others become tabs below the main panel. Sizes chosen by the user are kept for each form. Takes
/// ownership of its parts. GUI thread.
class SideColumns final : public QWidget {
    Q_OBJECT
public:
    /// Parts at one side stand above one another, those below side by side.
    enum class Place { left, below, right };

    explicit SideColumns(QWidget* main, QWidget* parent = nullptr);

    /// `title`: of its tab. `stretch`: its share of the column, or of the row below. Must not be
    /// called once the widget is shown.
    void add(Place place, const QString& title, QWidget* part, int stretch = 1);
    /// Shares of the width of the columns, and of the height of the main panel and what is below.
    void setShares(int left, int centre, int right);
    void setHeights(int main, int below);
    bool folded() const { return folded_; }
    /// The tabs of a narrow window.
    QTabBar* tabs() const { return tabs_; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Part {
        QBoxLayout* home;  ///< in a wide window
        QWidget* widget;
        int stretch;
    };
    static QSplitter* makeSplitter(Qt::Orientation way, QWidget* parent);
    void fit();
    void fold();
    void unfold();
    void keepSizes();
    void restoreSizes();
    void applyShares(QSplitter* splitter);
    std::vector<QSplitter*> shown() const;

    QWidget* main_;
    QSplitter *wide_, *centre_, *narrow_;
    std::map<Place, QWidget*> boxes_;
    QTabBar* tabs_;
    QStackedWidget* tabbed_;
    std::vector<Part> parts_;  ///< in reading order
    std::map<QSplitter*, QList<int>> shares_, sizes_;
    bool folded_ = false;
    bool settled_ = false;  ///< the form that is shown has its sizes
};

}  // namespace ui
