import CarpoolJSON
import Testing

@testable import CarpoolCLI

struct EventLineTests {
    private func text(_ json: String, isColoured: Bool = false) throws -> String {
        EventLine(try JSON.parse(Array(json.utf8))).text(isColoured: isColoured)
    }

    @Test func columnsStandBelowEachOther() throws {
        let event = """
            {"sub":"s1","time":"2026-09-30T10:00:00.123456Z","type":"request.did_finish","session":"api",\
            "request":"r_k3f9_1a","attempt":2,"data":{"state":"finished","ok":true,"status":200,"size_bytes":2048}}
            """
        #expect(
            try text(event)
                == "10:00:00.123  r_k3f9_1a     request.did_finish                [api] #2 finished ok=true status=200 size=2.00 KiB"
        )
    }

    @Test(arguments: [
        (#"{"error":{"name":"timed_out","message":"too slow","code":-1001}}"#, "timed_out: too slow"),
        (#"{"method":"GET","url":"http://a/","headers":[["A","b"]]}"#, "GET http://a/"),
        (#"{"response":{"status":404,"headers":[]}}"#, "status=404"), (#"{"duration_us":1234}"#, "duration=1.2ms"),
        (#"{"error":"cancelled","resume_data":"eyJ2"}"#, "error=cancelled"), (#"{"requests":[{},{}]}"#, "requests=2"),
        (
            #"{"level":"major","reachability":{"status":"unsatisfied","unsatisfied_reason":"no_carrier"}}"#,
            "level=major unsatisfied: no_carrier"
        ), ("{}", ""),
    ])
    func theTellingPartsAreThere(_ data: String, _ words: String) throws {
        let line = try text(#"{"type":"t","data":\#(data)}"#)
        #expect(line.drop { $0 == " " } == (words.isEmpty ? "t" : "t" + String(repeating: " ", count: 33) + words)[...])
    }

    @Test func nothingSteersTheTerminal() throws {
        let line = try text(#"{"type":"t","request":"\u001b[2J","data":{"a\n":"\u009b31m\r"}}"#)
        #expect(line.contains("\\u{1b}[2J") && !line.contains("\u{1B}"))
    }

    @Test func failuresAreRedOnATerminal() throws {
        #expect(try text(#"{"type":"t","data":{"ok":false}}"#, isColoured: true).hasPrefix("\u{1B}[31m"))
        #expect(try text(#"{"type":"t","data":{"ok":true}}"#, isColoured: true).hasPrefix(" "))
    }

    @Test(arguments: ["{}", "[]", #"{"time":5,"type":6,"data":7}"#, #"{"time":"T"}"#])
    func anythingMayCome(_ json: String) throws {
        #expect(try text(json).contains("?"))
    }
}
