internal import CarpoolCaller
internal import CarpoolJSON

/// Requests that run at once, and those that have ended and wait until those before them are printed.
struct RequestWindow {
    /// A request under way.
    struct Member {
        let url: String
        let pending: PendingRequest
        /// Waits for the end, unless its record is known, and prints the response.
        private let finish: (JSON?) throws(Failure) -> ExitCode
        /// The record at the end, if a look has received it.
        fileprivate var record: JSON?
        /// The size of the body if it has ended; `nil` while it runs.
        fileprivate(set) var waitingBytes: Int?

        init(_ url: String, _ pending: PendingRequest, finish: @escaping (JSON?) throws(Failure) -> ExitCode) {
            self.url = url
            self.pending = pending
            self.finish = finish
        }

        func complete() throws(Failure) -> ExitCode { try finish(record) }
    }

    /// The most requests that run at once.
    private let parallel: Int
    private var members: [Member] = []
    /// How long the next look waits for the first member.
    private var pause = RequestWindow.shortestPause

    /// The most members. Each that has ended holds its record in the daemon, which keeps 10,000 for a user.
    private static let maximumMembers = 1_024
    /// The most bytes of bodies that wait in the daemon, which stores up to 1 GiB for a client.
    private static let maximumWaitingBytes = 268_435_456
    private static let shortestPause = 1
    /// The longest time in which the end of a member is not noticed, in milliseconds.
    private static let longestPause = 32

    init(parallel: Int) { self.parallel = parallel }

    var isEmpty: Bool { members.isEmpty }

    /// Whether another request may begin.
    var hasRoom: Bool {
        let ended = members.compactMap(\.waitingBytes)
        return members.count - ended.count < parallel && members.count < RequestWindow.maximumMembers
            && ended.reduce(0, +) < RequestWindow.maximumWaitingBytes
    }

    mutating func add(_ member: Member) { members.append(member) }

    /// Removes the first member. If it still runs and others would begin, looks first which of them have ended, and
    /// returns `nil` if that has made room.
    mutating func next(hasMore: Bool) -> Member? {
        while hasMore, members.count > 1, members[0].waitingBytes == nil {
            let isAny = look()
            if isAny, hasRoom { return nil }
        }
        return members.removeFirst()
    }

    /// Waits a while for the first member, and notes which members have ended; returns whether any has.
    private mutating func look() -> Bool {
        var isAny = false
        for index in members.indices where members[index].waitingBytes == nil {
            // The failure of a call is that of `complete` too.
            let record = try? members[index].pending.poll(milliseconds: index == 0 ? pause : 0)
            guard record?["finished"]?.bool != false else { continue }
            members[index].waitingBytes = record?["body"]?["size_bytes"]?.int ?? 0
            isAny = true
            // The others are asked again: their bodies would wait here too.
            if index == 0 {
                members[0].record = record
                break
            }
        }
        pause = isAny ? RequestWindow.shortestPause : min(2 * pause, RequestWindow.longestPause)
        return isAny
    }
}
