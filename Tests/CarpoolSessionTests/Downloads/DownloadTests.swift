import CarpoolSystem
import CarpoolHTTP
@testable import CarpoolSession
import Glibc
import Testing

/// The life of a download over a scripted transport and a real folder.
struct DownloadTests {
    private let folder = DownloadFolder()
    private let tagged = [("ETag", "\"1\""), ("Content-Length", "6")]
    private let lost = TransportError(.networkConnectionLost, "gone")

    private func send(_ stage: Stage, _ change: (inout RequestParameters) -> Void = { _ in }) -> Request {
        stage.send { parameters in
            parameters.kind = .download
            var download = DownloadParameters()
            download.destination = .file(folder("a"))
            parameters.download = download
            change(&parameters)
        }
    }

    /// A download that breaks off in the middle.
    private func broken(_ stage: Stage) throws -> String {
        let request = send(stage)
        stage.transport.receive(200, tagged)
        stage.transport.receive(Array("abc".utf8))
        stage.transport.complete(lost)
        return try #require(request.resumeData)
    }

    private func resume(
        _ stage: Stage, _ token: String, _ change: (inout RequestParameters) -> Void = { _ in }
    ) throws -> Request {
        let place = try #require(ResumePoint.places(token: token)).partial
        let point = try ResumePoint(
            token: token, PartialFileOpening(place), index: nil, stage.session.files, for: .process)
        return send(stage) {
            $0.download?.resumePoint = point
            change(&$0)
        }
    }

    @Test("§2.7: validators come before the move", arguments: [true, false])
    func order(_ validatesBeforeMove: Bool) throws {
        let stage = try Stage()
        let request = send(stage) {
            $0.validators = [ScriptedValidator("v")]
            $0.download?.validatesBeforeMove = validatesBeforeMove
        }
        stage.transport.respond(200, tagged, body: "abcdef")
        let moving = ["didCreateDestination(a)", "didFinishDownloading"]
        let validating = metrics + ["task.didComplete(null)", "didValidate(v, success)"]
        #expect(
            stage.monitor.events == beginning + ["dl.didWriteData(6 of 6)", "dl.didFinishDownloading"]
                + (validatesBeforeMove ? validating + moving : moving + validating) + ["didCompleteTask(null)"] + ending
        )
        #expect(folder.names == ["a"])
        #expect(folder.text("a") == "abcdef")
        #expect(request.body.path == folder("a"))
        #expect(request.resumeData == nil)
    }

    @Test("DL-13: the request asks for the bytes after the token's offset, and they are appended")
    func resumed() throws {
        let stage = try Stage()
        let token = try broken(stage)
        #expect(folder.names == [".a.r_1.carpool-part"])
        _ = stage.monitor.take()
        let request = try resume(stage, token) { $0.hashesBody = true }
        let fields = try #require(stage.transport.requests.last).fields
        #expect(fields.first { $0.isNamed("range") }?.value == "bytes=3-")
        #expect(fields.first { $0.isNamed("if-range") }?.value == "\"1\"")
        stage.transport.receive(206, [("Content-Range", "bytes 3-5/6"), ("ETag", "\"1\"")])
        #expect(stage.transport.receive(Array("def".utf8)) == .accept)
        stage.transport.complete()
        #expect(folder.text("a") == "abcdef")
        #expect(request.download?.resumedAt == 3)
        #expect(stage.monitor.events.contains("dl.didResumeAtOffset(3 of 6)"))
        // The hash of "abcdef", by sha256sum.
        #expect(request.body.hash?.prefix(4) == [0xBE, 0xF5, 0x7E, 0xC7])
    }

    @Test("A changed resource starts from the beginning in the same file")
    func changed() throws {
        let stage = try Stage()
        let request = try resume(stage, try broken(stage))
        stage.transport.respond(200, [("ETag", "\"2\"")], body: "xy")
        #expect(request.download?.restartReason == .resourceChanged)
        #expect(folder.text("a") == "xy")
        #expect(folder.names == ["a"])
    }

    @Test("A part that does not fit is dropped, and the whole is requested without another attempt")
    func mismatch() throws {
        let stage = try Stage()
        let request = try resume(stage, try broken(stage))
        stage.transport.receive(206, [("Content-Range", "bytes 0-5/6")])
        #expect(stage.transport.receive(Array("zzzzzz".utf8)) == .accept)
        stage.transport.complete()
        #expect(try #require(stage.transport.requests.last).fields.allSatisfy { !$0.isNamed("range") })
        stage.transport.respond(200, tagged, body: "ABCDEF")
        #expect(request.download?.restartReason == .rangeMismatch)
        #expect(folder.text("a") == "ABCDEF")
        #expect(request.attempts.count == 1)
    }

    @Test(
        "A part that was not requested is a file only if it is all of the resource",
        arguments: [
            ([("Content-Range", "bytes 0-5/6")], true), ([("Content-Range", "bytes 0-5/20")], false),
            ([("Content-Range", "bytes 0-5/*")], false), ([("Content-Range", "bytes 2-7/8")], false), ([], false),
            ([("Content-Range", "bytes 0-5/6"), ("Content-Range", "bytes 0-5/7")], false),
            ([("Content-Range", "bytes 0-6/7")], false),
        ] as [([(String, String)], Bool)])
    func unrequestedPart(_ fields: [(String, String)], _ isWhole: Bool) throws {
        let stage = try Stage()
        let request = send(stage)
        stage.transport.respond(206, fields, body: "abcdef")
        #expect((request.error == nil) == isWhole)
        #expect(folder.names == (isWhole ? ["a"] : []))
    }

    @Test("A part that the caller requests is a file")
    func requestedPart() throws {
        let stage = try Stage()
        let range = try HTTPField(name: "Range", value: "bytes=2-4")
        let request = send(stage) { $0.fields.append(range) }
        stage.transport.respond(206, [("Content-Range", "bytes 2-4/6")], body: "cde")
        #expect(request.error == nil)
        #expect(folder.text("a") == "cde")
    }

    @Test("A cancelled download leaves its file only on request", arguments: [true, false])
    func cancelled(_ producingResumeData: Bool) throws {
        let stage = try Stage()
        let request = send(stage)
        stage.transport.receive(200, tagged)
        stage.transport.receive(Array("abc".utf8))
        request.cancel(producingResumeData: producingResumeData)
        stage.transport.completeCancelled()
        #expect(request.error?.name == "explicitly_cancelled")
        #expect((request.resumeData != nil) == producingResumeData)
        #expect(folder.names.isEmpty != producingResumeData)
        request.discardPartialFile()
        #expect(folder.names.isEmpty)
        #expect(request.resumeData == nil)
    }

    @Test("A retry resumes where the previous attempt broke off")
    func retried() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let request = send(stage) { $0.interceptor = Interceptor(interceptors: [interceptor]) }
        stage.transport.receive(200, tagged)
        stage.transport.receive(Array("abc".utf8))
        stage.transport.complete(lost)
        stage.scheduler.advance(milliseconds: 0)
        #expect(stage.transport.requests.last?.fields.first { $0.isNamed("range") }?.value == "bytes=3-")
        stage.transport.respond(206, [("ETag", "\"1\""), ("Content-Range", "bytes 3-5/6")], body: "def")
        #expect(request.error == nil)
        #expect(folder.text("a") == "abcdef")
    }

    @Test("A refused body is no file, and stays with the request if it is small", arguments: [100, 2])
    func refused(_ memoryLimit: Int) throws {
        let stage = try Stage()
        let request = send(stage) {
            $0.validators = [StatusValidator.successful]
            $0.memoryLimitBytes = memoryLimit
        }
        stage.transport.respond(404, tagged, body: "oh no!")
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(request.text == (memoryLimit == 100 ? "oh no!" : ""))
        #expect(request.body.count == 6)
        #expect(folder.names.isEmpty)
    }

    @Test("An error as the answer to a range request leaves the partial file unchanged")
    func busy() throws {
        let stage = try Stage()
        let request = try resume(stage, try broken(stage))
        stage.transport.respond(503, [], body: "busy")
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(request.text == "busy")
        #expect(folder.text(".a.r_1.carpool-part") == "abc")
        #expect(request.resumeData != nil)
    }

    @Test(
        "An error as the answer to the request for the whole, after a range that cannot be used, does the same",
        arguments: [206, 416], [204, 206, 401, 416, 503])
    func busyLater(_ first: Int, _ second: Int) throws {
        let stage = try Stage()
        let request = try resume(stage, try broken(stage))
        stage.transport.respond(first, [("ETag", "\"2\""), ("Content-Range", "bytes 3-5/6")], body: "")
        #expect(try #require(stage.transport.requests.last).fields.allSatisfy { !$0.isNamed("range") })
        stage.transport.respond(second, [("Content-Range", "bytes 0-2/6")], body: "oh!")
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(folder.names == [".a.r_1.carpool-part"])
        #expect(folder.text(".a.r_1.carpool-part") == "abc")
        #expect(request.download?.restartReason == nil)
        let again = try resume(stage, try #require(request.resumeData))
        stage.transport.respond(206, [("ETag", "\"1\""), ("Content-Range", "bytes 3-5/6")], body: "def")
        #expect(again.error == nil && folder.text("a") == "abcdef")
    }

    @Test("An error as the answer to a resumed download whose partial file is lost is no file", arguments: [206, 404])
    func lostPartialFile(_ status: Int) throws {
        let stage = try Stage()
        let token = try broken(stage)
        unlink(folder(".a.r_1.carpool-part"))
        let request = try resume(stage, token)
        stage.transport.respond(status, [("Content-Range", "bytes 0-2/6")], body: "oh!")
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(request.text == "oh!" && folder.names.isEmpty)
    }

    @Test("A retry does not meet the file of the attempt before, which is removed late")
    func removedLate() throws {
        let work = ManualWork()
        let stage = try Stage(work: work)
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let request = send(stage) { $0.interceptor = Interceptor(interceptors: [interceptor]) }
        stage.transport.receive(200, [("Content-Length", "6")])
        stage.transport.receive(Array("abc".utf8))
        while !work.jobs.isEmpty { work.runNext() }
        stage.transport.complete(lost)
        while request.download?.partial != nil, !work.jobs.isEmpty { work.runNext() }
        let late = work.jobs
        work.jobs = []
        stage.scheduler.advance(milliseconds: 0)
        stage.transport.receive(200, [("Content-Length", "6")])
        stage.transport.receive(Array("abcdef".utf8))
        stage.transport.complete()
        work.jobs += late
        while !work.jobs.isEmpty {
            work.runNext()
            stage.scheduler.advance(milliseconds: 10)
        }
        #expect(request.error == nil)
        #expect(folder.names == ["a"])
        #expect(folder.text("a") == "abcdef")
    }

    /// Decides the destination of a download when the test calls it.
    private final class Decider: DestinationDecider {
        var open: [(Result<DecidedDestination, SessionError>) -> Void] = []
        var names: [String] = []

        func destination(
            of request: Request, for response: ResponseHead, suggestedName: String,
            completion: @escaping (Result<DecidedDestination, SessionError>) -> Void
        ) {
            names.append(suggestedName)
            open.append(completion)
        }
    }

    @Test("DL-04: the body, and its end, wait for the decision of the destination", arguments: [true, false])
    func decided(_ hasBody: Bool) throws {
        let stage = try Stage()
        let decider = Decider()
        let request = send(stage) { $0.download?.destination = .ask(decider) }
        stage.transport.receive(200, [("Content-Disposition", "attachment; filename=b")])
        if hasBody {
            #expect(stage.transport.receive([1]) == .pause)
        } else {
            stage.transport.complete()
        }
        #expect(decider.names == ["b"])
        decider.open[0](.success(.file(folder("c"), DownloadOptions())))
        decider.open[0](.success(.spool))
        if hasBody {
            stage.transport.receive(Array("x".utf8))
            stage.transport.complete()
        }
        #expect(request.isFinished)
        #expect(folder.text("c") == (hasBody ? "x" : ""))
    }

    @Test("An answer after the end is ignored")
    func decidedTooLate() throws {
        let stage = try Stage()
        let decider = Decider()
        let request = send(stage) { $0.download?.destination = .ask(decider) }
        stage.transport.receive(200)
        request.cancel()
        stage.transport.completeCancelled()
        decider.open[0](.success(.file(folder("c"), DownloadOptions())))
        #expect(request.isFinished)
        #expect(folder.names.isEmpty)
    }
}
