import Testing

@testable import CarpoolCurl

/// The expectations are what curl 8.14.1 does.
struct CurlVariablesTests {
    @Test(
        "Variables and their functions",
        arguments: [
            ("A=b c", "{{A}}", "b c"), ("A= b ", "{{A:trim}}", "b"), ("A=b/c", "{{A:url}}", "b%2Fc"),
            ("A=\"\t", "{{A:json}}", "\\\"\\t"), ("A=b", "{{A:b64}}", "Yg=="), ("A=Yg==", "{{A:64dec}}", "b"),
            ("A=!", "{{A:64dec}}", "[64dec-fail]"), ("A= b ", "{{A:trim:b64:url}}", "Yg%3D%3D"),
            ("A=b", "\\{{A}}{{A}}", "{{A}}b"), ("A=b", "\\{{A}}", "\\{{A}}"), ("A=b", "x{{A}}{{B}}y", "xby"),
            ("A=b", "{{ A}}", "{{ A}}"),
            ("A[1-2]=abcd", "{{A}}", "bc"), ("A[2-]=abcd", "{{A}}", "cd"), ("A[2-2]=abcd", "{{A}}", "c"),
            ("A[9-12]=abcd", "{{A}}", ""), ("A[1-9223372036854775807]=abcd", "{{A}}", "bcd"), ("%V", "{{V}}", "value"),
            ("%W=preset", "{{W}}", "preset"), ("%V=preset", "{{V}}", "value"), ("A=b", "{{A", "{{A"),
            ("%V[1-2]", "{{V}}", "value"), ("%W[1-2]=preset", "{{W}}", "re"), ("A[0-0]=abcd", "{{A}}", "a"),
        ])
    func variables(_ variable: String, _ text: String, _ expected: String) throws {
        let line = try CurlLine.read(["--variable", variable, "--expand-user", text, "u"], ["V": "value"])
        #expect(line.invocation.operations[0].security.user == expected)
    }

    @Test(
        "Errors of variables",
        arguments: [
            ("A[2-1]=abcd", "option --variable: syntax error in --variable argument"),
            ("A[1-", "option --variable: syntax error in --variable argument"),
            ("A[1]=abcd", "option --variable: syntax error in --variable argument"),
            ("A[1-x]=abcd", "option --variable: syntax error in --variable argument"),
            ("A[9223372036854775808-]=a", "option --variable: syntax error in --variable argument"),
            ("%NONE", "option --variable: variable expansion failure"),
            ("A=b", "option --expand-user: variable expansion failure"),
        ])
    func variableErrors(_ variable: String, _ message: String) {
        let failure = CurlLine.failure(["--variable", variable, "--expand-user", "{{A:bogus}}", "u"])
        #expect(failure?.message == message)
    }

    @Test func aVariableSaysWhyItsFileCannotBeRead() {
        let failure = CurlLine.failure(["--variable", "A@/nofile", "u"])
        #expect(failure?.exitCode == 26)
        #expect(failure?.reasons == ["Failed to open /nofile: No such file or directory"])
    }
}
