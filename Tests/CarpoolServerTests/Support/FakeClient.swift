import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import CarpoolSystem
import Testing

/// A connected client without a connection: it keeps what it is answered and told.
final class FakeClient: Client {
    let number: Int
    var uid: UInt32
    var pid: Int32 = 4711
    var role: Role
    var identity: ClientIdentity
    var displayName = "tester"
    var pathAccess: PathAccess { uid == 1_000 ? .granted : .otherUser }
    var enclosure: ProcessView.Part?
    let userAgent: HTTPField? = nil
    var inlineBodyBytes = 45_056
    var recordBytes = 63_487
    var takesDescriptors = true
    var dependents: [Int: RequestEntry] = [:]
    var subscriptions: [String: Subscription] = [:]
    var watches: [String: ReachabilityWatch] = [:]
    var takesNews = true
    var feeds: [String: StreamFeed] = [:]
    var rawStreams: [String: RawStreamEntry] = [:]
    var takesStreams = true
    /// Messages of streams as they would be sent.
    private(set) var data: [[UInt8]] = []
    private(set) var version: String?
    private(set) var maximumLineBytes: Int?
    /// Calls that have not been answered.
    var calls: [RPCID: Call] = [:]
    /// Answers as they would be sent, by id.
    private(set) var answers: [String: [UInt8]] = [:]
    /// Events as they would be sent.
    private(set) var events: [[UInt8]] = []

    init(_ number: Int = 1, uid: UInt32 = 1_000, name: String = "tester", role: Role = .admin) {
        self.number = number
        self.uid = uid
        self.role = role
        identity = ClientIdentity(uid: uid, name: name)
    }

    var isConnected: Bool { true }
    var descriptorCount: Int { 0 }
    func claim(descriptor index: Int) -> Int32? { nil }

    func introduce(name: String?, version: String?, maximumLineBytes: Int?) {
        if let name { (identity, displayName) = (ClientIdentity(uid: uid, name: name), name) }
        self.version = version
        self.maximumLineBytes = maximumLineBytes
    }

    func deliver(_ result: CallResult, of call: Call) {
        guard let id = call.id else { return }
        if calls[id] === call { calls[id] = nil }
        var writer = JSONWriter()
        Reply.write(id: id, result, to: &writer)
        answers["\(id)"] = writer.bytes
    }

    func deliver(_ message: StreamMessage, of feed: StreamFeed) {
        var writer = JSONWriter()
        Notification.write(data: { feed.write(message, to: &$0) }, to: &writer)
        data.append(writer.bytes)
    }

    func deliver(news write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        events.append(writer.bytes)
    }

    func forget(_ feed: StreamFeed) { feeds[feed.name] = nil }

    func answer(_ call: Call, about entry: RequestEntry, _ body: @escaping () -> Void) { body() }
    func answer(
        _ call: Call, about entry: RequestEntry, computing body: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        body {}
    }

    func carryOut(_ work: any SlicedWork) { while work.runSlice() {} }

    func callUnderWay(_ id: RPCID) -> Call? { calls[id] }

    // MARK: Events

    var takesEvents = true
    /// Whether something waits in the journal.
    private(set) var hasEvents = false
    /// Who has the journal; the stage says so.
    weak var publisher: EventPublisher?

    func eventsAreWaiting() { hasEvents = true }
    func queue(event head: [UInt8], _ rest: UnsafeRawBufferPointer) { events.append(head + Array(rest)) }
    func forget(_ subscription: Subscription) { subscriptions[subscription.id] = nil }

    /// Takes what waits, as a connection does at the end of a turn.
    func takeEvents() {
        guard hasEvents, takesEvents, let publisher else { return }
        hasEvents = publisher.deliver(to: subscriptions.values)
    }

    /// The answer to a call, parsed.
    func answer(_ id: Int) throws -> JSON { try JSON.parse(try #require(answers["\(id)"], "no answer to \(id)")) }

    /// The events so far, each as its `params`.
    func told() throws -> [JSON] {
        takeEvents()
        return try parsed()
    }

    private func parsed() throws -> [JSON] { try events.map { try #require(try JSON.parse($0)["params"]) } }
}

extension RPCID {
    /// A number as an id.
    static func number(_ number: Int) throws -> RPCID { try #require(RPCID(try JSON.parse(Array("\(number)".utf8)))) }
}
