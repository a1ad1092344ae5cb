import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Conditional requests, 304, HEAD, and failures of the origin.
struct ValidationTests {
    private static let modified = "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"

    private func update(_ reception: CacheReception) throws -> CacheUpdate {
        guard case .update(let update) = reception else { throw CacheScene.Failure(message: "\(reception)") }
        return update
    }

    private func delivered(_ reception: CacheReception) throws -> CacheStoring {
        guard case .deliver(let storing) = reception else { throw CacheScene.Failure(message: "\(reception)") }
        return storing
    }

    private func isSentAgain(_ reception: CacheReception) -> Bool {
        if case .sendAgain = reception { return true }
        return false
    }

    @Test(
        "HV-01, HV-04: the conditions that are sent",
        arguments: [
            (["ETag: \"a\""], [], "\"a\"", nil), (["ETag: W/\"a\""], [], "W/\"a\"", nil), (["ETag: a"], [], "a", nil),
            ([modified], [], nil, "Wed, 01 Jan 2020 00:00:00 GMT"),
            (["ETag: \"a\"", modified], [], "\"a\"", "Wed, 01 Jan 2020 00:00:00 GMT"), ([], [], nil, nil),
            (["ETag: \"a\""], ["If-None-Match: \"b\""], "\"b\", \"a\"", nil),
            (["ETag: \"a\""], ["If-None-Match: \"a\""], "\"a\"", nil),
            (["ETag: \"a\""], ["If-None-Match: *"], "\"a\"", nil),
            (["ETag: \"a\""], ["If-Modified-Since: x"], "\"a\"", nil),
            ([modified], ["If-Modified-Since: \(CacheScene.date)"], nil, "Wed, 01 Jan 2020 00:00:00 GMT"),
            ([modified], ["If-None-Match: \"b\""], "\"b\"", nil),
            ([], ["If-None-Match: \"b\"", "If-Modified-Since: x"], "\"b\"", "x"),
        ] as [([String], [String], String?, String?)])
    func conditions(stored: [String], request: [String], tag: String?, date: String?) throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "Vary: Abc"] + stored, for: scene.request(["Abc: 1"]))
        let request = try scene.request(["Abc: 1"] + request)
        let fields = try scene.forwarding(request).fields ?? request.fields
        #expect(fields.value("if-none-match") == tag)
        #expect(fields.value("if-modified-since") == date)
        #expect(fields.value("abc") == "1")
    }

    @Test("HV-01: the tags of all matching variants, at most eight")
    func manyTags() throws {
        var scene = CacheScene()
        for number in 0..<12 {
            try scene.store(["Cache-Control: max-age=1", "ETag: \"\(number)\""], at: Double(number) / 100)
            let last = scene.stored.count - 1
            // As if another one had been the newest meanwhile, so that it does not replace the others.
            scene.stored[last].credentials = [1]
        }
        for index in scene.stored.indices { scene.stored[index].credentials = nil }
        let forwarding = try scene.forwarding()
        #expect(forwarding.candidates.count == 8)
        #expect(forwarding.candidates.first == 11)
        #expect(forwarding.fields?.value("if-none-match")?.split(separator: ",").count == 8)
        let update = try update(try scene.reception(304, ["ETag: \"3\""]))
        #expect(update.index == 3)
    }

    @Test("HV-02: a 304 changes all fields but those that describe the body")
    func update() throws {
        var scene = CacheScene()
        let old = [
            "Cache-Control: max-age=2", "ETag: \"a\"", "Content-Length: 36", "Content-Encoding: x", "Content-Range: x",
            "Test: 1", "Test: 2", "Kept: 1", "Age: 50", "Date: Wed, 31 Dec 2025 23:59:59 GMT",
        ]
        try scene.store(old)
        scene.stored[0].isInvalidated = true
        let update = try update(
            try scene.reception(
                304,
                [
                    "ETag: \"a\"", "Content-Length: 10", "Content-Encoding: y", "Content-Range: y", "TEST: 3",
                    "Upgrade: z", "Connection: gone", "Gone: 1", "Cache-Control: max-age=60", "New: 1",
                ]))
        let response = try #require(update.response)
        let fields = response.fields
        #expect(fields.first("content-length") == "36")
        #expect(fields.first("content-encoding") == "x")
        #expect(fields.first("content-range") == "x")
        #expect(fields.all("test") == ["3"])
        #expect(fields.first("kept") == "1")
        #expect(fields.first("new") == "1")
        #expect(fields.first("upgrade") == nil && fields.first("connection") == nil && fields.first("gone") == nil)
        #expect(fields.first("age") == nil, "the age was that of the old response")
        #expect(fields.all("date") == ["Thu, 01 Jan 2026 00:00:03 GMT"], "a 304 without a Date has that of its receipt")
        #expect(!response.isInvalidated)
        #expect(update.answer.head.status == 200)
        #expect(update.answer.status == .revalidated)
        #expect(update.answer.forward == .stale)
        #expect(update.answer.range == nil)
        scene.stored[0] = response
        #expect(try scene.word(at: 60) == "serve fresh")
    }

    @Test(
        "HV-02, HV-03: which response a 304 is about",
        arguments: [
            (["ETag: \"a\""], ["ETag: \"a\""], true), (["ETag: W/\"a\""], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["ETag: W/\"a\""], true), (["ETag: \"a\""], ["ETag: \"b\""], false),
            (["ETag: \"a\""], [], true), ([modified], [], true), ([modified], [modified], true),
            ([modified], ["Last-Modified: \(CacheScene.date)"], false), ([modified], ["ETag: \"a\""], false),
            (["ETag: \"a\""], [modified], true),
        ] as [([String], [String], Bool)])
    func match(stored: [String], head: [String], isKnown: Bool) throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1"] + stored)
        let reception = try scene.reception(304, head)
        #expect(isSentAgain(reception) == !isKnown)
        if case .sendAgain(let fields) = reception { #expect(fields.isEmpty) }
    }

    @Test("HV-02: Vary follows the 304; no-store and Vary: * remove the response")
    func updatedVary() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "ETag: \"a\""])
        let request = try scene.request(["Foo: 1"])
        let vary = try update(try scene.reception(304, ["Vary: Foo"], for: request))
        #expect(vary.response?.vary == [.init(name: "foo", value: request.selectingValue(of: "foo"))])
        for line in ["Cache-Control: no-store", "Vary: *"] {
            let update = try update(try scene.reception(304, [line], for: request))
            #expect(update.response == nil)
            #expect(update.answer.head.status == 200)
        }
        scene.settings.mode = .sharedCache
        #expect(try update(try scene.reception(304, ["Cache-Control: private"])).response == nil)
    }

    @Test(
        "HV-04: the caller's conditions are answered from a fresh response",
        arguments: [
            (["ETag: \"a\""], ["If-None-Match: \"a\""], 304), (["ETag: W/\"a\""], ["If-None-Match: W/\"a\""], 304),
            (["ETag: \"a\""], ["If-None-Match: \"x\", \"a\""], 304), (["ETag: \"a\""], ["If-None-Match: \"b\""], 200),
            (["ETag: \"a\""], ["If-None-Match: *"], 304), ([modified], ["If-None-Match: \"a\""], 200),
            ([modified], ["If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"], 304),
            ([modified], ["If-Modified-Since: Wednesday, 01-Jan-20 00:00:00 GMT"], 304),
            ([modified], ["If-Modified-Since: \(CacheScene.date)"], 304),
            ([modified], ["If-Modified-Since: Tue, 31 Dec 2019 23:59:59 GMT"], 200),
            ([], ["If-Modified-Since: \(CacheScene.date)"], 304), ([modified], ["If-Modified-Since: x"], 200),
            (
                ["ETag: \"a\"", modified],
                ["If-None-Match: \"a\"", "If-Modified-Since: Tue, 31 Dec 2019 23:59:59 GMT"], 304
            ), (["ETag: \"a\"", modified], ["If-None-Match: \"b\"", "If-Modified-Since: \(CacheScene.date)"], 200),
        ] as [([String], [String], Int)])
    func callersConditions(stored: [String], request: [String], expected: Int) throws {
        var scene = CacheScene()
        let extra = ["Cache-Control: max-age=60", "Vary: Foo", "Content-Location: /y", "Other: 1", "Expires: x"]
        try scene.store(extra + stored)
        let answer = try scene.answer(scene.request(request))
        #expect(answer.head.status == expected)
        #expect((answer.range == 0..<0) == (expected == 304))
        guard expected == 304 else { return }
        let fields = answer.head.fields
        for name: StaticString in ["cache-control", "vary", "content-location", "expires", "date", "age"] {
            #expect(fields.first(name) != nil, "\(name)")
        }
        #expect(fields.first("other") == nil)
        #expect(fields.first("etag") == scene.stored[0].fields.first("etag"))
        // The same after a validation, of what has a validator.
        guard !stored.isEmpty else { return }
        let stale = try update(try scene.reception(304, stored, for: scene.request(request), at: 61))
        #expect(stale.answer.head.status == 304)
    }

    @Test("HV-04: a 304 that may be about the caller's own tag alone")
    func ambiguous() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "ETag: \"a\""])
        let request = try scene.request(["If-None-Match: \"b\""])
        #expect(try update(try scene.reception(304, ["ETag: \"a\""], for: request)).answer.head.status == 200)
        #expect(try delivered(try scene.reception(304, ["ETag: \"b\""], for: request)).response == nil)
        guard case .sendAgain(let fields) = try scene.reception(304, [], for: request) else {
            throw CacheScene.Failure(message: "it is not certain which one is meant")
        }
        #expect(fields.value("if-none-match") == "\"b\"")
        #expect(try scene.word(scene.request(["If-Match: \"a\""]), at: 0) == "forward conditional")
    }

    @Test("a 200 to a validation replaces the response")
    func replaced() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "ETag: \"a\""])
        let storing = try delivered(try scene.reception(200, ["Cache-Control: max-age=5", "ETag: \"b\""]))
        #expect(storing.removed == [0])
        #expect(storing.ttlMilliseconds == 5_000)
        #expect(try scene.forwarding().outcome(storing, isStored: true).reason == "expired")
    }

    @Test(
        "HV-06: what a response to HEAD does to the stored one",
        arguments: [
            ([], 200, nil), (["ETag: \"a\""], 200, false), (["ETag: \"b\""], 200, true),
            (["Content-Length: 10"], 200, nil), (["Content-Length: 11"], 200, true), ([modified], 200, true),
            (["Cache-Control: no-store"], 200, true), ([], 410, nil), ([], 304, nil),
        ] as [([String], Int, Bool?)])
    func head(lines: [String], status: Int, isInvalidated: Bool?) throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "ETag: \"a\"", "Content-Length: 10", "A: 1"])
        let request = try scene.request(method: "HEAD")
        #expect(try scene.word(request) == "forward expired")
        let storing = try delivered(
            try scene.reception(status, lines + ["Cache-Control: max-age=1000", "A: 2"], for: request))
        #expect(storing.response == nil)
        #expect(storing.changes.first?.response.isInvalidated == isInvalidated)
        guard isInvalidated == false, let change = storing.changes.first else { return }
        #expect(change.response.fields.first("a") == "2")
        scene.stored[change.index] = change.response
        #expect(try scene.word(at: 1_000) == "serve fresh")
    }

    @Test(
        "HV-06, HI-01: only an equal strong tag in a response to HEAD proves that a changing request has changed nothing",
        arguments: [([], nil), (["ETag: W/\"a\""], true), (["ETag: \"a\""], false)] as [([String], Bool?)])
    func headAfterAChange(lines: [String], isInvalidated: Bool?) throws {
        var scene = CacheScene()
        let tag = lines.first ?? "A: 1"
        try scene.store(["Cache-Control: max-age=1000", tag, "Content-Length: 10"])
        scene.stored[0].isInvalidated = true
        let request = try scene.request(method: "HEAD")
        let storing = try delivered(
            try scene.reception(200, lines + ["Cache-Control: max-age=1000", "Content-Length: 10"], for: request))
        #expect(storing.changes.first?.response.isInvalidated == isInvalidated)
    }

    @Test(
        "HV-05, HV-08: stale if an error",
        arguments: [
            ("max-age=2, stale-if-error=60", [], "stale_if_error"), ("max-age=2", [], ""),
            ("max-age=2, stale-if-error=60, must-revalidate", [], ""),
            ("max-age=2, stale-if-error=60, no-cache", [], ""),
            ("max-age=2, stale-if-error=0", [], ""),
            ("max-age=2", ["Cache-Control: stale-if-error=5"], "stale_if_error"),
            ("max-age=2, stale-if-error=60", ["Cache-Control: no-cache"], ""),
            ("max-age=2, stale-if-error=60", ["Cache-Control: max-age=0"], ""),
        ] as [(String, [String], String)])
    func staleIfError(control: String, request: [String], expected: String) throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: \(control)"])
        let request = try scene.request(request)
        for status in [500, 502, 503, 504] {
            var reason = ""
            if case .serve(let answer) = try scene.reception(status, [], for: request) {
                reason = answer.reason.rawValue
                #expect(answer.status == .stale)
            }
            #expect(reason == expected)
        }
        guard case .deliver = try scene.reception(501, [], for: request) else {
            throw CacheScene.Failure(message: "501 is no failure that passes")
        }
        let error = TransportError(.cannotConnectToHost, "")
        let answer = scene.policy.answer(
            afterFailure: error, for: request, after: try scene.forwarding(request), in: scene.stored,
            at: CacheScene.time(3))
        #expect(answer?.reason.rawValue ?? "" == expected)
    }

    @Test(
        "HV-07: stale if the origin is out of reach, as the settings say",
        arguments: [
            (.cannotFindHost, nil, true), (.networkConnectionLost, nil, true), (.timedOut, "connect", true),
            (.timedOut, "queue", false), (.serverCertificateUntrusted, nil, false), (.cancelled, nil, false),
        ] as [(TransportError.Code, String?, Bool)])
    func offline(code: TransportError.Code, timeout: String?, isServed: Bool) throws {
        var scene = CacheScene()
        scene.settings.staleIfOfflineMilliseconds = 60_000
        try scene.store(["Cache-Control: max-age=2"])
        let error = TransportError(code, "", timeout: timeout)
        for (seconds, isInTime) in [(61.0, true), (62.0, false)] {
            let request = try scene.request()
            let answer = scene.policy.answer(
                afterFailure: error, for: request, after: try scene.forwarding(request, at: seconds),
                in: scene.stored, at: CacheScene.time(seconds))
            #expect((answer?.reason == .staleIfOffline) == (isServed && isInTime))
        }
        guard case .deliver = try scene.reception(503, []) else {
            throw CacheScene.Failure(message: "an origin that answers is not out of reach")
        }
    }
}
