public import CarpoolJSON

// Values of responses, under the model's names (AS-01). Each call sends the request, unless its session waits for
// `resume()`, and returns a task whose value can be awaited. A request may have several. With
// `automaticallyCancelling`, a cancelled task cancels the request it waits for.
extension Request {
    /// The response as it is, whatever its body.
    public func serializingResponse(automaticallyCancelling: Bool = true) -> DataTask<Void> {
        task(UnserializedResponse(), automaticallyCancelling) { _ in () }
    }

    /// The bytes of the body (RS-03).
    public func serializingData(
        input: SerializerInput = SerializerInput(), automaticallyCancelling: Bool = true
    ) -> DataTask<[UInt8]> {
        task(DataResponseSerializer(input: input), automaticallyCancelling) { value in
            guard case .data(let bytes) = value else { return nil }
            return bytes
        }
    }

    /// The text of the body (RS-04).
    public func serializingString(
        encoding: StringResponseSerializer.Encoding = .charset, input: SerializerInput = SerializerInput(),
        automaticallyCancelling: Bool = true
    ) -> DataTask<String> {
        task(StringResponseSerializer(encoding: encoding, input: input), automaticallyCancelling) { value in
            guard case .string(let text) = value else { return nil }
            return text
        }
    }

    /// The JSON value of the body (RS-05).
    public func serializingJSON(
        input: SerializerInput = SerializerInput(), automaticallyCancelling: Bool = true
    ) -> DataTask<JSON> {
        task(JSONResponseSerializer(input: input), automaticallyCancelling) { value in
            guard case .json(let json) = value else { return nil }
            return json
        }
    }

    /// The value of any serializer.
    public func serializingResponse(
        using serializer: any ResponseSerializer, automaticallyCancelling: Bool = true
    ) -> DataTask<SerializedValue> {
        task(serializer, automaticallyCancelling) { $0 }
    }

    /// The value that a closure makes of the bytes of the body; an error that it throws is the failure (RS-10).
    public func serializingResponse<Value>(
        automaticallyCancelling: Bool = true, _ body: @escaping (Request, [UInt8]) throws -> Value
    ) -> DataTask<Value> {
        var made: Value?
        let serializer = ClosureSerializer { request, bytes in
            made = try body(request, bytes)
            return .none
        }
        return task(serializer, automaticallyCancelling) { _ in made }
    }

    private func task<Value>(
        _ serializer: any ResponseSerializer, _ cancels: Bool, _ type: @escaping (SerializedValue) -> Value?
    ) -> DataTask<Value> {
        DataTask(self, TypedSerializer(serializer, type), cancelsAutomatically: cancels)
    }
}
