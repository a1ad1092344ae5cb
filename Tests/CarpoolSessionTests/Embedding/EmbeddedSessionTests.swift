import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import Glibc
import Testing

/// Programs that make requests without the daemon, with a real nginx.
struct EmbeddedSessionTests {
    private let url: String

    init() throws { url = try Nginx.shared.get().url }

    @Test func givesWhatTheProgramGives() throws {
        let text = try Session.run { [url] session in
            try await session.request("\(url)/text").validate().serializingString().value
        }
        #expect(text == "GET /text ")
    }

    @Test func throwsWhatTheProgramThrows() throws {
        #expect(throws: SessionError.self) {
            try Session.run { session in try await session.request("nonsense").serializingData().value }
        }
    }

    @Test func everythingHappensOnTheCallingThread() throws {
        let monitor = ThreadMonitor()
        let threads = try Session.run(eventMonitor: monitor) { [url] session in
            var threads: Set = [pthread_self()]
            for path in ["text", "json", "slow"] {
                let task = Task { await session.request("\(url)/\(path)").serializingData().response.response?.status }
                if path == "slow" { task.cancel() }
                _ = await task.value
                threads.insert(pthread_self())
            }
            return threads
        }
        #expect(threads == [pthread_self()])
        #expect(monitor.threads == threads)
        #expect(monitor.events > 30)
    }

    @Test func parametersGoWhereTheMethodHasThem() throws {
        let texts = try Session.run { [url] session in
            let values: StructuredValue = [
                "name": "Ada Lovelace", "tags": ["a"], "born": 1815, "x": nil, "y": true, "z": 0.5,
            ]
            let get = session.request("\(url)/text", parameters: values).serializingString()
            let post = session.request("\(url)/text", method: .post, parameters: ["a": "b"]).serializingString()
            let sent = await post.response.request
            guard case .bytes(let body)? = sent?.body else { return [try await get.value] }
            return [try await get.value, try await post.value, String(decoding: body, as: UTF8.self)]
        }
        #expect(
            texts == [
                "GET /text?born=1815&name=Ada%20Lovelace&tags%5B%5D=a&y=1&z=0.5 ", "POST /text ", "a=b",
            ])
    }

    @Test func headersAndTheSessionsOwn() throws {
        var configuration = SessionConfiguration()
        configuration.fields = [try HTTPField(name: "X-Test", value: "session")]
        let texts = try Session.run(configuration) { [url] session in
            let own = HTTPHeaders([try HTTPField(name: "x-test", value: "request")])
            let first = session.request("\(url)/text").serializingString()
            let second = session.request("\(url)/text", headers: own).serializingString()
            return [try await first.value, try await second.value]
        }
        #expect(texts == ["GET /text session", "GET /text request"])
    }

    @Test func theProgramsNameIsTheUserAgent() throws {
        let agent = try Session.run { [url] session in
            await session.request("\(url)/text").serializingData().response.request?.fields
                .first { $0.hasName("user-agent") }?.value
        }
        #expect(agent?.contains(" Carpool/") == true)
        #expect(agent?.hasPrefix("Unknown/") == false)
    }

    @Test func whatIsNotOverIsCancelledWhenTheProgramEnds() throws {
        let monitor = RecordingMonitor()
        let request = try Session.run(eventMonitor: monitor) { [url] session in
            let request = session.request("\(url)/slow")
            let task = request.serializingData()
            _ = task
            return request
        }
        #expect(request.isFinished)
        #expect(request.error?.name == "session_invalidated")
        #expect(monitor.events.last == "session.didBecomeInvalid")
    }

    @Test func allRequestsCanBeCancelled() throws {
        let names = try Session.run { [url] session in
            let tasks = (0..<3).map { _ in session.request("\(url)/slow").serializingData() }
            let count = session.cancelAllRequests()
            var names = ["\(count)"]
            for task in tasks { names.append(await task.response.error?.name ?? "none") }
            return names
        }
        #expect(names == ["3"] + Array(repeating: "explicitly_cancelled", count: 3))
    }

    @Test func largeBodiesLieInFilesWithoutNames() throws {
        let found = try Session.run { [url] session in
            let response = await session.request("\(url)/large").serializingResponse().response
            guard case .file(let file) = response.body.storage, let path = file.path else { return (0, 0, false) }
            var info = stat()
            let isThere = stat(path, &info) == 0
            return (info.st_size, response.data?.count ?? 0, isThere && info.st_nlink == 0)
        }
        #expect(found == (3_000_000, 3_000_000, true))
    }

    @Test func aBodyThatCannotBeKeptFailsItsRequest() throws {
        let error = try Session.run(temporaryDirectory: "/proc") { [url] session in
            await session.request("\(url)/large").serializingResponse().response.error
        }
        #expect(error?.name == "cannot_write_to_file")
    }
}

/// Records the threads on which it is called.
private final class ThreadMonitor: EventMonitor {
    private(set) var threads: Set<pthread_t> = []
    private(set) var events = 0

    func note() {
        threads.insert(pthread_self())
        events += 1
    }

    func requestDidCreateInitialURLRequest(_ request: Request) { note() }
    func requestDidCreateURLRequest(_ request: Request) { note() }
    func requestDidCreateTask(_ request: Request) { note() }
    func requestDidResume(_ request: Request) { note() }
    func requestDidResumeTask(_ request: Request) { note() }
    func request(_ request: Request, taskDidReceive response: ResponseHead) { note() }
    func request(_ request: Request, taskDidReceiveBytes count: Int) { note() }
    func request(_ request: Request, taskDidCompleteWith error: TransportError?) { note() }
    func request(_ request: Request, didCompleteTaskWith error: TransportError?) { note() }
    func requestDidFinish(_ request: Request) { note() }
    func request(_ request: Request, didParse response: SerializedResponse) { note() }
    func requestDidCancel(_ request: Request) { note() }
    func sessionDidBecomeInvalid(_ session: Session) { note() }
}
