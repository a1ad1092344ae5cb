import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import CarpoolSystem
import Testing

/// A connected client without a connection: it keeps its answers and notifications.
final class FakeClient: Client, EventSink, NotificationSink, StreamSink {
    let profile: ClientProfile
    var role: Role
    let resources = ClientResources()
    var pathAccess: PathAccess { uid == 1_000 ? .granted : .otherUser }
    var sandboxDifference: ProcessView.Part?
    var inlineBodyBytes = 45_056
    var recordBytes = 63_487
    var takesDescriptors = true
    var isDrained = true
    var takesStreams = true
    /// Messages of streams as they would be sent.
    private(set) var data: [[UInt8]] = []
    /// Answers as they would be sent, by id.
    private(set) var answers: [String: [UInt8]] = [:]
    /// Events as they would be sent.
    private(set) var events: [[UInt8]] = []

    init(_ number: Int = 1, uid: UInt32 = 1_000, name: String = "tester", role: Role = .admin) {
        self.role = role
        profile = ClientProfile(
            number: number, credentials: PeerCredentials(uid: uid, gid: uid, pid: 4711),
            identity: ClientIdentity(uid: uid, name: name), maximumLineBytes: 65_535)
        profile.introduce(name: name, version: nil, maximumLineBytes: nil)
        profile.userAgent = nil
    }

    var limits: ClientLimits {
        ClientLimits(inlineBodyBytes: inlineBodyBytes, recordBytes: recordBytes, takesDescriptors: takesDescriptors)
    }
    var outlet: any ClientOutlet { self }

    func send(_ result: CallResult, of call: Call) {
        guard let id = call.id else { return }
        if resources.calls[id] === call { resources.calls[id] = nil }
        var writer = JSONWriter()
        Reply.write(id: id, result, to: &writer)
        answers["\(id)"] = writer.bytes
    }

    func send(streamMessage write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        Notification.write(data: write, to: &writer)
        data.append(writer.bytes)
    }

    func askForOutput(of request: String, call: RPCID?) {
        send(notification: { Notification.write(outputNeededBy: request, call: call, to: &$0) })
    }

    func send(notification write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        events.append(writer.bytes)
    }

    func forget(feed name: String) { resources.feeds[name] = nil }

    func answer(_ call: Call, about entry: RequestEntry, _ answer: RecordAnswer) {
        switch answer {
        case .written(let body): body()
        case .computed(let body): body {}
        }
    }

    func run(_ work: any SlicedWork) { while work.runSlice() {} }

    // MARK: Events

    var takesEvents = true
    /// Whether something waits in the journal.
    private(set) var hasEvents = false
    /// The owner of the journal; set by the stage.
    weak var publisher: EventPublisher?

    func eventsAreWaiting() { hasEvents = true }
    func queue(event head: [UInt8], _ rest: UnsafeRawBufferPointer) { events.append(head + Array(rest)) }
    func forget(subscription id: String) { resources.subscriptions[id] = nil }

    /// Takes the waiting events, as a connection does at the end of a turn.
    func takeEvents() {
        guard hasEvents, takesEvents, let publisher else { return }
        hasEvents = publisher.deliver(to: resources.subscriptions.values)
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
