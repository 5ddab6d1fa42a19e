package io.github.odradekkafka;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Gives the cluster that {@link OdradekTest} describes to the tests of a class. */
final class OdradekExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterTestExecutionCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(OdradekExtension.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        Odradek kafka = described(context.getRequiredTestClass());
        context.getStore(NAMESPACE).put(Odradek.class, kafka);
        kafka.beforeAll(context);
    }

    private static Odradek described(Class<?> testClass) {
        OdradekTest test = AnnotationSupport.findAnnotation(testClass, OdradekTest.class).orElseThrow();
        Odradek kafka = Odradek.cluster().nodes(test.nodes()).property(test.property());
        for (String topic : test.topics()) {
            kafka.arguments("--topic", topic);
        }
        for (String setting : test.settings()) {
            kafka.arguments("--set", setting);
        }
        kafka.arguments(test.arguments());
        return test.shared() ? kafka.shared() : kafka;
    }

    private static Odradek of(ExtensionContext context) {
        return context.getStore(NAMESPACE).get(Odradek.class, Odradek.class);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        of(context).beforeEach(context);
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        of(context).afterTestExecution(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        of(context).afterEach(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        of(context).afterAll(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return of(context).supportsParameter(parameter, context);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return of(context).resolveParameter(parameter, context);
    }
}
