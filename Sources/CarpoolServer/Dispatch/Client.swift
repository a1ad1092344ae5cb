internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSystem

/// Whose parameters are read: a client's, or the configuration file's.
protocol Caller: AnyObject {
    /// The client's number, user, process and names.
    var profile: ClientProfile { get }
    /// How large its answers may be.
    var limits: ClientLimits { get }
    /// Whether the daemon opens paths that the client names. Valid for the current turn of the loop.
    var pathAccess: PathAccess { get }
}

/// A connected client as handlers see it.
protocol Client: Caller {
    /// The methods that it may call.
    var role: Role { get }
    /// The first namespace or root in which the client differs from the daemon; `nil` if there is none.
    var sandboxDifference: ProcessView.Part? { get }
    /// The resources of the connection.
    var resources: ClientResources { get }
    /// Sends events, notifications and the messages of streams.
    var outlet: any ClientOutlet { get }
    /// Runs long work in slices; the client's next message is handled after it.
    func run(_ work: any SlicedWork)
    /// Sends the answer of a call; a notification has none.
    func send(_ result: CallResult, of call: Call)
    /// Asks for the descriptor to which a request's body is written, with a notification.
    func askForOutput(of request: String, call: RPCID?)
    /// Answers a call with a request's record: now, or when the client has read what was sent before.
    func answer(_ call: Call, about entry: RequestEntry, _ answer: RecordAnswer)
}

/// Everything that is sent to a client besides answers.
typealias ClientOutlet = EventSink & NotificationSink & StreamSink

/// How the answer with a record is made.
enum RecordAnswer {
    /// The body writes it.
    case written(() -> Void)
    /// The body starts a job that computes it, and calls `done` when the call is answered or cancelled.
    case computed((_ done: @escaping () -> Void) -> Void)
}

/// How large the answers to a client may be.
struct ClientLimits {
    /// The encoded size up to which a body may stand in a record.
    var inlineBodyBytes: Int
    /// The maximum length of a record, so that the client accepts the line that carries it.
    var recordBytes: Int
    /// Whether one more descriptor may be on its way to the client.
    var takesDescriptors: Bool
}

extension Client {
    /// The number of the connection.
    var number: Int { profile.number }
    /// The name for people: the one that the client gave, or that of its program.
    var displayName: String { profile.displayName }
    /// Whether the connection is open.
    var isConnected: Bool { resources.isOpen }
}

extension Caller {
    /// The user at the other end.
    var uid: UInt32 { profile.identity.uid }
    /// The identity that quotas and the scope `mine` go by.
    var identity: ClientIdentity { profile.identity }
    /// The `User-Agent` of its requests, unless they or their session set another.
    var userAgent: HTTPField? { profile.userAgent }
    /// The encoded size up to which a body may stand in a record.
    var inlineBodyBytes: Int { limits.inlineBodyBytes }
    /// The maximum length of a record, so that the client accepts the line that carries it.
    var recordBytes: Int { limits.recordBytes }
}
