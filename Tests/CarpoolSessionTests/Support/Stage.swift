import CarpoolHTTP
import CarpoolSession

/// A session over a scripted transport (or a row of transports that ends with it) and a scripted spool, watched by a
/// monitor.
struct Stage {
    let transport = ScriptedTransport()
    let spool = ScriptedSpool()
    let monitor = RecordingMonitor()
    let scheduler = ManualScheduler()
    let session: Session

    init(
        _ configuration: SessionConfiguration = SessionConfiguration(), streamMemory: StreamMemory = StreamMemory(),
        connectivity: (any Connectivity)? = nil, work: any BackgroundWork = InlineWork(),
        over row: (any Transport, any Scheduler) -> any Transport = { transport, _ in transport }
    ) throws {
        session = Session(
            name: "test", configuration: configuration, transport: row(transport, scheduler), scheduler: scheduler,
            spool: spool,
            files: FileStore(work: work, scheduler: scheduler), eventMonitor: monitor,
            streamMemory: streamMemory, connectivity: connectivity)
    }

    /// A request that is not resumed yet.
    func request(_ parameters: RequestParameters) -> Request {
        session.request(parameters, id: "r_\(session.requestCount + 1)")
    }

    /// A request that is resumed.
    func send(_ url: String = "http://a.test/", _ change: (inout RequestParameters) -> Void = { _ in }) -> Request {
        var parameters = RequestParameters(url: url)
        change(&parameters)
        let request = request(parameters)
        request.setUp()
        request.resume()
        return request
    }
}

extension Request {
    /// The body as text; `nil` if it is in a file.
    var text: String? {
        guard case .memory(let bytes) = body.storage else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The events of a request before the first of the network (session model §2.1).
let beginning = [
    "requestDidResume", "didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask",
]
/// The events of the metrics of each task.
let metrics = ["task.didCollectMetrics", "didGatherMetrics"]
/// The events at the end of a request without serializers.
let ending = ["requestDidFinish", "didParseResponse(none, success)"]
/// The same for one that has failed.
func ending(_ error: String) -> [String] { ["requestDidFinish", "didParseResponse(none, \(error))"] }
