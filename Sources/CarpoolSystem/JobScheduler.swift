/// Schedules the jobs of many shares: round robin over the shares, each in order of arrival, with limits per share and
/// per user, so that the jobs of one client, however many and however slow, leave threads for the others. A value: it
/// knows jobs only by their numbers (tickets).
///
/// Jobs that only compute (``WorkerShare/isComputation``) have limits of their own and never count as stalled: they run
/// even if a disk that does not answer blocks many threads.
struct JobScheduler {
    /// The limits, each with its reason.
    struct Limits: Sendable {
        /// Jobs on files that run and have not stalled. File operations mostly wait for a disk: more of them at a
        /// time than this fill its queue and gain nothing, fewer let one slow disk delay the files of another.
        var running = 8
        /// Maximum number of running jobs on files, stalled ones included: each holds a thread, and a file system
        /// that never answers never returns it.
        var threads = 32
        /// Threads in addition to these for the process's own jobs on files, so that the users' disks never hold all
        /// of them.
        var threadsOfProcess = 4
        /// Jobs of one share that run and have not stalled: one that waits for a disk, and one that does not.
        var runningPerShare = 2
        /// Jobs on files of one user that run and have not stalled; the rest of `running` is for other users and for
        /// the process.
        var runningPerUser = 6
        /// Jobs on files of one user that run, stalled ones included.
        var threadsPerUser = 16
        /// Jobs that run and only compute: more take processors from the loop.
        var computing = 4
        /// Jobs of one user that run and only compute; the rest is for others.
        var computingPerUser = 3
        /// Jobs of one share that wait: as many as one client can have calls and transfers.
        var waitingPerShare = 2_048
        /// Jobs of one user that wait; the rest of `waiting` is for others, whatever names its clients have.
        var waitingPerUser = 8_192
        /// Jobs that wait.
        var waiting = 16_384
    }

    private struct Share {
        var waiting: [Int] = []
        var first = 0
        var running = 0
        var stalled = 0
        var count: Int { waiting.count - first }

        mutating func takeFirst() -> Int {
            let ticket = waiting[first]
            first += 1
            // The used front is removed from time to time, so that taking stays O(1) and the array does not grow.
            if first == waiting.count || first > 64 && first * 2 > waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return ticket
        }
    }

    /// Jobs of one user, or of all.
    private struct Load {
        var waiting = 0
        /// Jobs on files, stalled ones included.
        var running = 0
        var stalled = 0
        var computing = 0
        var isNone: Bool { waiting == 0 && running == 0 && computing == 0 }

        /// Counts a job that begins or ends to run.
        mutating func count(_ share: WorkerShare, by change: Int) {
            if share.isComputation { computing += change } else { running += change }
        }
    }

    private struct Running {
        let share: WorkerShare
        let started: MonotonicTime
        var isStalled = false
    }

    let limits: Limits
    private var shares: [WorkerShare: Share] = [:]
    /// The shares that have waiting jobs and may run one more, in order.
    private var turns = ShareTurns()
    private var users: [UInt32: Load] = [:]
    private var all = Load()
    private var runningJobs: [Int: Running] = [:]
    init(limits: Limits = Limits()) { self.limits = limits }

    var waiting: Int { all.waiting }

    /// Jobs that run, stalled ones included.
    var running: Int { runningJobs.count }

    /// Jobs that have been running for long; see ``markStalled(before:)``.
    var stalled: Int { all.stalled }

    /// Shares with jobs.
    var knownShares: Int { shares.count }

    /// The start of the longest running job that may stall and has not been counted as stalled.
    var oldestStart: MonotonicTime? {
        runningJobs.values.lazy.filter { !$0.isStalled && !$0.share.isComputation }.map(\.started).min()
    }

    /// The start of the longest running job of all.
    var oldestStartOfAll: MonotonicTime? { runningJobs.values.lazy.map(\.started).min() }

    /// Adds a job to the queue of its share; `false` if that queue, those of its user or all of them are full and the
    /// job may be refused.
    mutating func add(_ ticket: Int, to share: WorkerShare, mayBeRefused: Bool) -> Bool {
        if mayBeRefused {
            let ofUser = share.user.flatMap { users[$0]?.waiting } ?? 0
            guard waiting < limits.waiting, ofUser < limits.waitingPerUser else { return false }
            guard shares[share]?.count ?? 0 < limits.waitingPerShare else { return false }
        }
        let wasEligible = isEligible(share)
        shares[share, default: Share()].waiting.append(ticket)
        all.waiting += 1
        if let user = share.user { users[user, default: Load()].waiting += 1 }
        if !wasEligible, isEligible(share) { turns.append(share) }
        return true
    }

    /// Removes and returns the job to run next; `nil` if none may run.
    mutating func next(at now: MonotonicTime) -> Int? {
        // A share whose user or kind of job is at its limit keeps its place.
        guard let share = turns.takeFirst(where: mayRun) else { return nil }
        guard let ticket = shares[share]?.takeFirst() else { return nil }
        shares[share]?.running += 1
        all.waiting -= 1
        all.count(share, by: 1)
        if let user = share.user {
            users[user]?.waiting -= 1
            users[user]?.count(share, by: 1)
        }
        runningJobs[ticket] = Running(share: share, started: now)
        if isEligible(share) { turns.append(share) }
        return ticket
    }

    /// A job has ended.
    mutating func finish(_ ticket: Int) {
        guard let job = runningJobs.removeValue(forKey: ticket) else { return }
        let wasEligible = isEligible(job.share)
        shares[job.share]?.running -= 1
        if job.isStalled { countStalled(job.share, by: -1) }
        all.count(job.share, by: -1)
        if let user = job.share.user {
            users[user]?.count(job.share, by: -1)
            if users[user]?.isNone ?? false { users[user] = nil }
        }
        if !wasEligible, isEligible(job.share) { turns.append(job.share) }
        if let share = shares[job.share], share.running == 0, share.count == 0 { shares[job.share] = nil }
    }

    /// Counts the jobs on files that began before a point of time as stalled: others may run in their place, also of
    /// the same share, up to the number of threads.
    mutating func markStalled(before time: MonotonicTime) {
        for (ticket, job) in runningJobs where !job.isStalled && !job.share.isComputation && job.started <= time {
            runningJobs[ticket]?.isStalled = true
            let wasEligible = isEligible(job.share)
            countStalled(job.share, by: 1)
            if !wasEligible, isEligible(job.share) { turns.append(job.share) }
        }
    }

    private mutating func countStalled(_ share: WorkerShare, by change: Int) {
        shares[share]?.stalled += change
        all.stalled += change
        if let user = share.user { users[user]?.stalled += change }
    }

    private func isEligible(_ share: WorkerShare) -> Bool {
        guard let share = shares[share] else { return false }
        return share.count > 0 && share.running - share.stalled < limits.runningPerShare
    }

    private func mayRun(_ share: WorkerShare) -> Bool {
        let user = share.user.map { users[$0] ?? Load() }
        if share.isComputation {
            return all.computing < limits.computing && user?.computing ?? 0 < limits.computingPerUser
        }
        let threads = limits.threads + (user == nil ? limits.threadsOfProcess : 0)
        guard all.running < threads, all.running - all.stalled < limits.running else { return false }
        guard let user else { return true }
        return user.running < limits.threadsPerUser && user.running - user.stalled < limits.runningPerUser
    }
}
