import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import Testing

struct DispatcherTests {
    @Test("Every method of the catalogue has one handler, and every handler a method")
    func completeness() throws {
        let stage = try Stage()
        let server = stage.server
        let parts = HandlerTable.parts(server.services)
        let methods = Catalogue.carpool.methods
        #expect(parts.flatMap(\.keys).sorted() == methods.map(\.name).sorted(), "none twice, none too many")
        #expect(server.dispatcher.names == Set(methods.flatMap { [$0.name] + $0.aliases }))
    }

    @Test("The specification's own methods exist only where they are enabled", arguments: [true, false])
    func specification(_ isServed: Bool) throws {
        let stage = try Stage({ _ in }, { $0.servesSpecificationExamples = isServed })
        let client = FakeClient()
        guard isServed else {
            #expect(try stage.refusal(client, "subtract", "[42,23]")["name"]?.string == "method_not_found")
            return
        }
        #expect(try stage.call(client, "subtract", "[42,23]").int == 19)
        #expect(stage.server.dispatcher.names.isSuperset(of: Catalogue.specification.methods.map(\.name)))
    }

    /// A dispatcher of three test methods that records which of them ran.
    private final class Log {
        var ran: [String] = []
        lazy var dispatcher = Dispatcher(
            catalogue: Catalogue(methods: [
                .made("t.look", role: .observe), .made("t.make", aliases: ["t.alias"], role: .submit),
                .made("t.fail", role: .admin), .made("t.absent", role: .observe), .made("rpc.cancel", role: .observe),
            ]),
            handlers: [
                "t.look": handler("t.look"), "t.make": handler("t.make"), "rpc.cancel": handler("rpc.cancel"),
                "t.fail": { [unowned self] (_: Call) throws(RPCError) in
                    ran.append("t.fail")
                    throw .draining
                },
            ])

        private func handler(_ name: String) -> Handler {
            { [unowned self] (_: Call) throws(RPCError) in
                ran.append(name)
                return .result { $0.string(name) }
            }
        }

        func dispatch(
            _ method: String, _ params: String = "{}", role: Role = .admin, underWay: Int = 0, isDuplicate: Bool = false
        ) throws -> JSON {
            let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
            guard case .single(.request(let request)) = RPCInput.parse(Array(text.utf8)) else {
                throw ServerError(text)
            }
            let client = FakeClient(role: role)
            let call = dispatcher.dispatch(
                request, from: client, batch: nil, underWay: underWay, limit: 2, isDuplicate: isDuplicate)
            #expect(call.isAnswered)
            return try client.answer(1)
        }
    }

    @Test("An alias is the same method")
    func alias() throws {
        let log = Log()
        #expect(try log.dispatch("t.alias")["result"]?.string == "t.make")
        #expect(log.dispatcher.names == ["t.look", "t.make", "t.alias", "t.fail", "rpc.cancel"])
    }

    @Test(
        "A call that is refused has no effect",
        arguments: [
            ("t.lok", "{}", Role.admin, 0, false, "method_not_found"),
            ("t.absent", "{}", .admin, 0, false, "method_not_found"),
            ("t.look", "{}", .admin, 0, true, "duplicate_id"), ("t.look", "{}", .admin, 2, false, "too_many_in_flight"),
            ("t.make", "{}", .observe, 0, false, "forbidden"),
            ("t.look", #"{"x":1}"#, .admin, 0, false, "invalid_params"),
        ])
    func refusals(
        _ method: String, _ params: String, _ role: Role, _ underWay: Int, _ isDuplicate: Bool, _ name: String
    ) throws {
        let log = Log()
        let answer = try log.dispatch(method, params, role: role, underWay: underWay, isDuplicate: isDuplicate)
        #expect(answer["error"]?["data"]?["name"]?.string == name)
        #expect(log.ran.isEmpty)
    }

    @Test("A handler that throws answers with its error")
    func failure() throws {
        let log = Log()
        #expect(try log.dispatch("t.fail")["error"]?["data"]?["name"]?.string == "draining")
        #expect(log.ran == ["t.fail"])
    }

    @Test("With too many open calls, the methods that end calls still work")
    func alwaysServed() throws {
        #expect(try Log().dispatch("rpc.cancel", underWay: 99)["result"]?.string == "rpc.cancel")
    }

    @Test(
        "Each role may do what it needs and no more",
        arguments: [
            (Role.observe, "daemon.stats", true), (.observe, "events.subscribe", true),
            (.observe, "request.list", false),
            (.observe, "request.submit", false), (.observe, "session.create", false), (.submit, "request.list", true),
            (.submit, "daemon.shutdown", false), (.submit, "client.disconnect", false),
            (.submit, "daemon.config_reload", false),
            (.submit, "daemon.log_level", false), (.admin, "daemon.config_reload", true),
        ])
    func roles(_ role: Role, _ method: String, _ mayCall: Bool) throws {
        let stage = try Stage()
        let client = FakeClient(role: role)
        let answer = try stage.answer(client, method)
        #expect((answer["error"]?["data"]?["name"]?.string == "forbidden") == !mayCall)
    }
}

extension Method {
    fileprivate static func made(_ name: String, aliases: [String] = [], role: Role) -> Method {
        Method(name, aliases: aliases, role: role, "Made up.", "", result: .string, examples: [])
    }
}
