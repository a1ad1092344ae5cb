internal import CarpoolCaller
internal import CarpoolJSON

/// Requests that run at once, and those that have ended and wait until those before them are printed.
struct RequestWindow {
    /// A request under way.
    struct Member {
        let url: String
        fileprivate let pending: PendingRequest
        /// The download to a file, if it is one.
        fileprivate let download: PendingDownload?
        /// Prints the response. The record is `nil` if the daemon could not be asked for it.
        private let finish: (JSON?) throws(Failure) -> ExitCode
        /// The record at the end, of the first member alone: the others are asked again.
        fileprivate var record: JSON?
        /// Whether it has ended with a response.
        fileprivate var hasSucceeded = false
        /// The size of the body if it has ended; `nil` while it runs.
        fileprivate(set) var waitingBytes: Int?

        init(
            _ url: String, _ pending: PendingRequest, _ download: PendingDownload? = nil,
            finish: @escaping (JSON?) throws(Failure) -> ExitCode
        ) {
            self.url = url
            self.pending = pending
            self.download = download
            self.finish = finish
        }

        /// The id of the request.
        var request: String { pending.id }

        /// Whether it is a download that can be resumed.
        var isResumable: Bool { !hasSucceeded && download?.isResumable == true }

        func complete() throws(Failure) -> ExitCode { try finish(record) }
    }

    /// The most requests that run at once.
    private let parallel: Int
    private let board: ProgressBoard
    private var members: [Member] = []
    /// How long the next look waits for the first member.
    private var pause = RequestWindow.shortestPause

    /// The most members. Each that has ended holds its record in the daemon, which keeps 10,000 for a user.
    private static let maximumMembers = 1_024
    /// The most bytes of bodies that wait in the daemon, which stores up to 1 GiB for a client.
    private static let maximumWaitingBytes = 268_435_456
    private static let shortestPause = 1
    /// The longest time in which the end of a member is not noticed while others would begin, in milliseconds.
    private static let longestPause = 32

    init(parallel: Int, _ board: ProgressBoard) {
        self.parallel = parallel
        self.board = board
    }

    var isEmpty: Bool { members.isEmpty }

    /// Whether a member is a download that can be resumed.
    var isResumable: Bool { members.contains(where: \.isResumable) }

    /// Whether another request may begin.
    var hasRoom: Bool {
        let ended = members.compactMap(\.waitingBytes)
        return members.count - ended.count < parallel && members.count < RequestWindow.maximumMembers
            && ended.reduce(0, +) < RequestWindow.maximumWaitingBytes
    }

    mutating func add(_ member: Member, name: String) {
        members.append(member)
        board.add(member.pending.id, name: name)
    }

    /// Waits until the first member has ended and removes it, or returns `nil` as soon as another request may begin.
    /// A signal ends the command, after the resume data of the downloads was stored.
    mutating func next(hasMore: Bool) -> Member? {
        let interruption = Interruption()
        defer { interruption.unblock() }
        while members[0].waitingBytes == nil {
            let isAny = look(hasMore: hasMore)
            board.show()
            if let signal = interruption.signal { end(by: signal) }
            if hasMore, isAny, hasRoom { return nil }
        }
        let first = members.removeFirst()
        board.end(first.pending.id, isDownload: first.download != nil && first.hasSucceeded)
        board.clear()
        return first
    }

    /// Waits a while for the first member, and notes which members have ended; returns whether any has.
    private mutating func look(hasMore: Bool) -> Bool {
        var isAny = false
        for index in members.indices where members[index].waitingBytes == nil {
            // The failure of a call is that of `complete` too.
            let record = try? members[index].pending.poll(milliseconds: index == 0 ? pause : 0)
            if let record {
                members[index].download?.take(record)
                board.take(record, of: members[index].pending.id)
            }
            guard record?["finished"]?.bool != false else { continue }
            members[index].waitingBytes = record?["body"]?["size_bytes"]?.int ?? 0
            members[index].hasSucceeded = record?["outcome"]?["ok"]?.bool == true
            isAny = true
            // The others are asked again: their bodies would wait here too.
            if index == 0 {
                members[0].record = record
                break
            }
        }
        let longest = hasMore ? RequestWindow.longestPause : ProgressMeter.milliseconds
        pause = isAny ? RequestWindow.shortestPause : min(2 * pause, longest)
        return isAny
    }

    /// Ends the command by a signal.
    private func end(by signal: Int32) -> Never {
        for member in members where member.waitingBytes == nil { try? member.download?.interrupt() }
        board.clear()
        Interruption.end(by: signal)
    }
}
