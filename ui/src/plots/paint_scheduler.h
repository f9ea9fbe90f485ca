#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <vector>

namespace ui {

/// Something that is painted when its turn comes.
class Paintable {
public:
    virtual ~Paintable() = default;
    /// False while it is not visible: it then stays due and costs nothing.
    virtual bool visible() const = 0;
    /// Draws without showing it yet.
    virtual void paintNow() = 0;
    /// Shows what paintNow() drew.
    virtual void present() = 0;
};

/// Milliseconds to wait after a paint that took `cost` ms, so that painting stays within `share` of
/// `cores` cores.
double pauseAfter(double cost, double share, int cores);

/// Paints the plots that are due, one per turn of the event loop, then shows them all at once, so
/// that the screen never mixes two frames. While the CPU trains, it waits between frames to stay
/// within 3 % of the machine's CPU time (decisions.md#plots, D13); otherwise, while the user
/// interacts with a plot, and for the first paint of a plot, it paints at the screen's rate. GUI
/// thread.
class PaintScheduler final : public QObject {
    Q_OBJECT
public:
    explicit PaintScheduler(QObject* parent = nullptr);

    void add(Paintable* plot);
    void remove(Paintable* plot);
    /// New data or another view: paint when there is time.
    void request(Paintable* plot);
    /// A plot has come into view, which may be due.
    void arm();
    /// The user drags, zooms or hovers: the next moments go at the screen's rate.
    void touch();
    /// While true, painting keeps to its budget.
    void setSaving(bool saving) { saving_ = saving; }
    /// Charges other painting of the window, in ms, to the same budget. It delays the next frame,
    /// but never by more than two seconds after the last one.
    void charge(double ms);
    /// The last frame is on screen, and painting another now keeps to the budget.
    bool isReady() const;
    /// A frame ended without anything to paint.
    void endFrame() { lastFrame_ = clock_.elapsed(); }
    /// Something that can be seen is due or not shown yet: presented() will come.
    bool isPainting() const { return painting_ || anyDue(); }

signals:
    /// All that was due is on screen.
    void presented();

private:
    struct Due {
        Paintable* plot;
        bool due = false;
        bool drawn = false;  ///< and not shown yet
        qint64 painted = 0;
    };
    void paintOne();
    void presentAll();
    bool touched() const;
    bool anyDue() const;
    bool anyBlank() const;

    std::vector<Due> plots_;
    QTimer timer_;
    QElapsedTimer clock_;
    qint64 allowed_ = 0;    ///< ms on clock_ from when the next paint may start
    qint64 lastFrame_ = 0;  ///< ms on clock_ when it ended
    qint64 touchedUntil_ = 0;
    double frameCost_ = 0;   ///< ms that the frame being painted took so far
    bool painting_ = false;  ///< some of a frame is painted and not shown yet
    bool saving_ = false;
    int cores_;
};

}  // namespace ui
